import {expect, test} from 'vitest';
import {inOrder} from '../../../src/base/async/in-order.js';

test('actions are called in the order of their indexes, as soon as all before them are there', () => {
  const called: string[] = [];
  const act = inOrder();
  const give = (index: number): readonly string[] => {
    act(index, () => called.push(String(index)));
    return [...called];
  };
  expect(give(2)).toEqual([]);
  expect(give(0)).toEqual(['0']);
  expect(give(1)).toEqual(['0', '1', '2']);
  expect(give(3)).toEqual(['0', '1', '2', '3']);
});
