import {expect, test} from 'vitest';
import {sortNewestFirst} from '../../../src/operations/filters/list-filters.js';

const at = (createdAt: bigint, name = '') => ({createdAt, name});

test('items are sorted newest first to the nanosecond, and equal times keep their order', () => {
  const start = 1_777_636_800_000_000_000n;
  const items = [at(start, 'a'), at(start + 2n), at(start - 10n ** 18n), at(start + 1n), at(start, 'b')];
  expect(sortNewestFirst(items, undefined)).toEqual([
    at(start + 2n),
    at(start + 1n),
    at(start, 'a'),
    at(start, 'b'),
    at(start - 10n ** 18n),
  ]);
  expect(sortNewestFirst(items, 2)).toEqual([at(start + 2n), at(start + 1n)]);
});
