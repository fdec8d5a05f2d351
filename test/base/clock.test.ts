import {expect, test} from 'vitest';
import {isWaiting} from '../../src/base/clock.js';

test.each([
  [99, true],
  [90, true],
  [100, false],
  [101, false],
  [89, false],
  [-7_200_000, false],
])('a wait of 10 ms that ends at 100 continues at %d: %j', (now, expected) => {
  expect(isWaiting(100, 10, now)).toBe(expected);
});
