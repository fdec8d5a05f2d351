import {afterEach, expect, test, vi} from 'vitest';
import {isExpectedError, rethrowUnexpected, SystemError, unlessRoot} from '../../src/base/errors.js';

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  [0, 'check the policy'],
  [1000, 'run as root'],
])('user %i gets the hint "%s"', (uid, hint) => {
  vi.spyOn(process, 'geteuid').mockReturnValue(uid);
  expect(unlessRoot('run as root', 'check the policy')).toBe(hint);
});

test.each([
  ['a KcriError', new SystemError('disk full'), true],
  [
    'a failed system call',
    Object.assign(new Error('open'), {code: 'ENOENT', errno: -2, syscall: 'open'}),
    true,
  ],
  [
    'an error of an invalid URL',
    Object.assign(new TypeError('Invalid URL'), {code: 'ERR_INVALID_URL'}),
    true,
  ],
  ['an interrupted operation', new DOMException('aborted', 'AbortError'), true],
  ['a TypeError', new TypeError('x is not a function'), false],
  ['a violated assumption', new Error('the pod has no identity'), false],
  [
    'an argument of a wrong type',
    Object.assign(new TypeError('path'), {code: 'ERR_INVALID_ARG_TYPE'}),
    false,
  ],
  ['a value that is not an error', 'text', false],
])('%s is expected or thrown again', (_title, error, isExpected) => {
  expect(isExpectedError(error)).toBe(isExpected);
  let thrown: unknown;
  try {
    rethrowUnexpected(error);
  } catch (again) {
    thrown = again;
  }
  expect(thrown).toBe(isExpected ? undefined : error);
});
