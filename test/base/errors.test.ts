import {afterEach, expect, test, vi} from 'vitest';
import {unlessRoot} from '../../src/base/errors.js';

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
