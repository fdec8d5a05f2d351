import {expect, test} from 'vitest';
import {ExecTimeoutError} from '../../../src/operations/exec/exec-errors.js';

test('a timeout is formatted as a Go duration, and the command is quoted as in Go', () => {
  const error = new ExecTimeoutError(['sh', '-c', 'echo "x"\n'], 90);
  expect(error.message).toBe('command timed out: "sh -c echo \\"x\\"\\n" timed out after 1m30s');
  expect(error.plainMessage).toBe('timed out after 1m30s');
});
