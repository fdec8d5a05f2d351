import {appendFileSync, readFileSync} from 'node:fs';
import {expect} from 'vitest';

/** Folder with the file `subject`, which `npm run prove` writes before each run; undefined in ordinary runs. */
const FOLDER = process.env['KCRI_TEST_OMIT'];

/**
 * Returns the field or flag that `npm run prove` takes away from every Pod and command line of the tests, such as
 * `PodSpec.hostAliases` or `ps --label`: a test that proves it must fail. Undefined in ordinary runs.
 */
export function readOmittedSubject(): string | undefined {
  return FOLDER === undefined ? undefined : readFileSync(`${FOLDER}/subject`, 'utf8') || undefined;
}

/** Records which file took something away: a test that passes although nothing was taken away proves nothing. */
export function noteOmission(): void {
  if (FOLDER !== undefined) appendFileSync(`${FOLDER}/omissions`, `${expect.getState().testPath ?? ''}\n`);
}
