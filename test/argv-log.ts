import {appendFileSync} from 'node:fs';
import {relative} from 'node:path';
import {expect} from 'vitest';

/**
 * Notes which test ran which command line, when KCRI_ARGV_LOG names a file: what docs/crictl.md's table of flags
 * and tests is made from (scripts/flag-table.mjs).
 */
export function logCommandLine(args: readonly string[]): void {
  const log = process.env['KCRI_ARGV_LOG'];
  if (log === undefined) return;
  const {testPath = '', currentTestName = ''} = expect.getState();
  const line = {file: relative(process.cwd(), testPath), test: currentTestName, args};
  appendFileSync(log, `${JSON.stringify(line)}\n`);
}
