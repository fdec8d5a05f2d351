import {appendFileSync} from 'node:fs';

/**
 * The field or flag that `npm run prove` takes away from every Pod and command line of the tests, such as
 * `PodSpec.hostAliases` or `ps --label`: a test that proves it must fail. Undefined in ordinary runs.
 */
export const OMITTED_SUBJECT = process.env['KCRI_TEST_OMIT'];

/** Records that something was taken away: a test that passes although nothing was proves nothing. */
export function noteOmission(): void {
  const log = process.env['KCRI_TEST_OMIT_LOG'];
  if (log !== undefined) appendFileSync(log, `${OMITTED_SUBJECT}\n`);
}
