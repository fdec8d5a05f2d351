import {expect, test} from 'vitest';
import {ExecFailedError, ExecTimeoutError} from '../../../src/operations/exec/exec-errors.js';

test('a timeout is formatted as a Go duration, and the command is quoted as in Go', () => {
  const error = new ExecTimeoutError(['sh', '-c', 'echo "x"\n'], 90);
  expect(error.message).toBe('command timed out: "sh -c echo \\"x\\"\\n" timed out after 1m30s');
  expect(error.plainMessage).toBe('timed out after 1m30s');
});

const inCrio = (output: string): string =>
  `rpc error: code = Unknown desc = command error: ${output}\n, stdout: , stderr: , exit code -1`;
const byRunc = (cause: string): string =>
  `time="2026-11-20T14:00:00Z" level=error msg="exec failed: unable to start container process: exec: \\"nosuch\\": ${cause}"`;

test.each([
  [inCrio(byRunc('executable file not found in $PATH')), '"nosuch": executable file not found in $PATH', 127],
  [inCrio(byRunc('permission denied')), '"nosuch": permission denied', 126],
  [inCrio('executable file `nosuch` not found in $PATH'), 'executable file `nosuch` not found in $PATH', 127],
  [
    inCrio('executable file `nosuch` not found: No such file or directory'),
    'executable file `nosuch` not found',
    127,
  ],
])('%j means %j, as in a shell', (message, reason, exitCode) => {
  expect(new ExecFailedError(message)).toMatchObject({message, plainMessage: reason, exitCode});
});
