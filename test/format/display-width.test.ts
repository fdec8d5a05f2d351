import {expect, test} from 'vitest';
import {
  cutToWidth,
  displayWidth,
  fitMiddleToWidth,
  fitToWidth,
  toCells,
  wrapToWidth,
} from '../../src/format/display-width.js';

test.each([
  ['web', 3],
  ['漢字', 4],
  ['ｗｅｂ', 6],
  ['한글', 4],
  ['🚀', 2],
  ['é', 1],
])('%s takes %i cells', (text, width) => {
  expect(displayWidth(text)).toBe(width);
});

test('characters without a cell are dropped, and marks are combined where possible', () => {
  expect(toCells('e\u0301')).toBe('é');
  expect(toCells('a\u200bb\u20e3c\u0301\u0302')).toBe('abć');
});

test.each([
  ['web', 5, 'web  '],
  ['web-server', 5, 'web-…'],
  ['漢字', 3, '漢…'],
  ['漢字漢', 4, '漢… '],
  ['web', 0, ''],
])('%s is fitted to %i cells', (text, width, fitted) => {
  expect(fitToWidth(text, width, '…')).toBe(fitted);
  expect(displayWidth(fitToWidth(text, width, '…'))).toBe(width);
});

test.each([
  ['web', 5, 'web  '],
  ['web-7d9f-abc12', 9, 'web-…bc12'],
  ['漢字漢字', 6, '漢…字 '],
  ['web', 2, 'w…'],
])('%s is cut in the middle to %i cells', (text, width, fitted) => {
  expect(fitMiddleToWidth(text, width, '…')).toBe(fitted);
});

test('a wide character is never cut in half', () => {
  expect(cutToWidth('漢字', 3)).toBe('漢');
  expect(wrapToWidth('a漢字b', 3)).toEqual(['a漢', '字b']);
  expect(wrapToWidth('', 3)).toEqual(['']);
});
