import {describe, expect, test} from 'vitest';
import {SystemError} from '../../../src/base/errors.js';
import {renderError} from '../../../src/cli/output/render-error.js';

/** Returns the error of a failed system call, as Node.js makes it. */
function systemCallError(code: string, details: object): Error {
  const error = new Error(`${code}: the message of Node.js, ${JSON.stringify(details)}`);
  return Object.assign(error, {errno: -1, code, ...details});
}

describe('a full or read-only disk that no part of kcri expected is an error for people', () => {
  test.each([
    [
      'EROFS',
      {syscall: 'mkdir', path: '/ro/x'},
      'mkdir "/ro/x": read-only file system',
      'use a directory on a writable filesystem',
    ],
    [
      'ENOSPC',
      {syscall: 'write'},
      'write: no space left on device',
      'free some space, or use a directory on another filesystem',
    ],
    [
      'EDQUOT',
      {syscall: 'rename', path: '/a', dest: '/b', errno: -122, code: 'Unknown system error -122'},
      'rename "/a" to "/b": disk quota exceeded',
      'free some space, or use a directory on another filesystem',
    ],
  ])('%s', (code, details, message, hint) => {
    expect(renderError(systemCallError(code, details), false)).toBe(`kcri: ${message}\nhint: ${hint}`);
  });

  test('with its stack in debug mode', () => {
    const text = renderError(systemCallError('EROFS', {syscall: 'mkdir', path: '/ro'}), true);
    expect(text).toContain('hint: use a directory on a writable filesystem\nSystemError: mkdir "/ro"');
    expect(text).toContain('EROFS: the message of Node.js');
  });
});

test.each([
  ['a system call that kcri should not have made', systemCallError('EBADF', {syscall: 'read'})],
  ['an error of the program', new TypeError('x is not a function')],
  ['an error with only the code of a full disk', Object.assign(new Error('full'), {code: 'ENOSPC'})],
])('%s is a bug of kcri, with its stack', (_, error) => {
  expect(renderError(error, false)).toMatch(/^kcri: .*\n {4}at .*this is a bug in kcri; please report it/s);
});

test('an expected error keeps its message and hint', () => {
  const error = new SystemError('writing "/x": no space left on device', {hint: 'free some space'});
  expect(renderError(error, false)).toBe(
    'kcri: writing "/x": no space left on device\nhint: free some space',
  );
});
