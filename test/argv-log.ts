import {appendFileSync} from 'node:fs';
import {relative} from 'node:path';
import {expect} from 'vitest';

/**
 * Appends the command line and the running test to the file that KCRI_ARGV_LOG names. scripts/flag-table.mjs generates
 * the table of flags and tests in docs/crictl.md from it.
 */
export function logCommandLine(args: readonly string[]): void {
  const log = process.env['KCRI_ARGV_LOG'];
  if (log === undefined) return;
  const {testPath = '', currentTestName = ''} = expect.getState();
  const line = {file: relative(process.cwd(), testPath), test: currentTestName, args};
  appendFileSync(log, `${JSON.stringify(line)}\n`);
}
