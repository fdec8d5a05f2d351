import {expect, test} from 'vitest';
import {findClosestMatch} from '../../src/base/closest-match.js';

test.each([
  ['verson', ['versions', 'version', 'inspect'], 'version'],
  ['as', ['inspect', 'ab', 'ac'], 'ab'],
  ['inspct', ['inspectp', 'inspect'], 'inspect'],
  ['LABLE', ['table', 'label'], 'table'],
  ['x', ['xy', 'abc'], 'xy'],
  ['x', ['xyz'], undefined],
  ['sycn', ['exec', 'sync'], 'sync'],
  ['yx', ['xyz', 'xy'], 'xy'],
  ['bogus', ['bogusly', 'us'], undefined],
  ['no-truncate', ['no-trunc'], 'no-trunc'],
  ['a'.repeat(101), ['a'.repeat(101)], undefined],
  ['', [], undefined],
])('the closest match for %j in %j is %j', (word, candidates, match) => {
  expect(findClosestMatch(word, candidates)).toBe(match);
});
