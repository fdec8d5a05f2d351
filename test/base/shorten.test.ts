import {expect, test} from 'vitest';
import {shorten} from '../../src/base/shorten.js';

test.each([
  ['', 3, ''],
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['a😀b', 3, 'a…'],
  ['a😀b', 4, 'a😀b'],
])('%j in %i code units is %j', (text, limit, shown) => {
  expect(shorten(text, limit)).toBe(shown);
});
