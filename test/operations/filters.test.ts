import {expect, test} from 'vitest';
import {newestFirst} from '../../src/operations/filters.js';

const at = (createdAt: bigint, name = '') => ({createdAt, name});

test('what was made last is first, to the nanosecond, and of the same age what the runtime told first', () => {
  const start = 1_777_636_800_000_000_000n;
  const items = [at(start, 'a'), at(start + 2n), at(start - 10n ** 18n), at(start + 1n), at(start, 'b')];
  expect(newestFirst(items, undefined)).toEqual([
    at(start + 2n),
    at(start + 1n),
    at(start, 'a'),
    at(start, 'b'),
    at(start - 10n ** 18n),
  ]);
  expect(newestFirst(items, 2)).toEqual([at(start + 2n), at(start + 1n)]);
});
