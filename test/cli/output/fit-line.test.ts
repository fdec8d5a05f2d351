import {expect, test} from 'vitest';
import {fitLine} from '../../../src/cli/output/fit-line.js';

test.each([
  ['abcdef', 6, 'abcdef'],
  ['abcdef', 5, 'abcd…'],
  ['漢字', 4, '漢字'],
  ['漢字x', 4, '漢…'],
  ['a\u001B[31m', 20, 'a\\x1b[31m'],
  ['cafe\u0301', 4, 'café'],
  ['abc', 0, ''],
])('%j on %i columns is shown as %j', (text, columns, shown) => {
  expect(fitLine([text], columns, '…')).toBe(shown);
});

test('nothing follows a piece that is cut', () => {
  expect(fitLine(['漢漢', 'x', 'y'], 4, '…')).toBe('漢…');
});
