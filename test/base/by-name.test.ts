import {expect, test} from 'vitest';
import {filterByName, findByName, groupByName} from '../../src/base/by-name.js';

const LENGTHS = [3, 1000];

/** Creates items with names that each occur twice, and counts how often names are read. */
function createItems(length: number) {
  const reads = {count: 0};
  const items = Array.from({length}, (_, index) => ({
    index,
    get name(): string {
      reads.count += 1;
      return `n${index >> 1}`;
    },
  }));
  return {items, reads};
}

test.each(LENGTHS)('items in a list of %i are found by name, in their order', (length) => {
  const {items} = createItems(length);
  expect(findByName(items, 'n0')).toBe(items[0]);
  expect(filterByName(items, 'n0')).toEqual([items[0], items[1]]);
  expect(findByName(items, 'none')).toBeUndefined();
  expect(filterByName(items, 'constructor')).toEqual([]);
  expect([...groupByName(items).keys()][0]).toBe('n0');
});

test('looking up every name of a long list takes linear time', () => {
  const {items, reads} = createItems(1000);
  for (let index = 0; index < 500; index += 1) findByName(items, `n${index}`);
  expect(reads.count).toBeLessThan(3000);
});
