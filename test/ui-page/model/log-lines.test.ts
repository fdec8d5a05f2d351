import {expect, test} from 'vitest';
import {cleanLogText} from '../../../src/ui-page/model/clean-log-text.js';
import {appendText, EMPTY_LOG, findInLine, MAX_LINES} from '../../../src/ui-page/model/log-lines.js';

test('lines are complete when their end has arrived', () => {
  const start = appendText(EMPTY_LOG, 'one\ntw');
  expect(start).toEqual({lines: ['one'], dropped: 0, rest: 'tw'});
  expect(appendText(start, 'o\n')).toEqual({lines: ['one', 'two'], dropped: 0, rest: ''});
});

test('the oldest lines are dropped, and counted', () => {
  const full = appendText(EMPTY_LOG, 'x\n'.repeat(MAX_LINES));
  const more = appendText(full, 'last\nrest');
  expect(more).toMatchObject({dropped: 1, rest: 'rest'});
  expect(more.lines).toHaveLength(MAX_LINES);
  expect(more.lines.at(-1)).toBe('last');
});

test('a line without an end does not grow without limit', () => {
  const log = appendText(EMPTY_LOG, 'x'.repeat(50_000));
  expect(log.lines.map(({length}) => length)).toEqual([20_000, 20_000]);
  expect(log.rest).toHaveLength(10_000);
});

test.each([
  ['a Fox, a fox', 'fox', ['a ', '[Fox]', ', a ', '[fox]']],
  ['fox', 'fox', ['[fox]']],
  ['foxes', 'fox', ['[fox]', 'es']],
  ['İ fox', 'fox', ['[İ fox]']],
])('in "%s" "%s" is found at %j', (line, search, expected) => {
  expect(findInLine(line, search)?.map(({text, isMatch}) => (isMatch ? `[${text}]` : text))).toEqual(
    expected,
  );
});

test('nothing is found in other lines', () => {
  expect(findInLine('wolf', 'fox')).toBeUndefined();
});

test('colors are removed, and other control characters are escaped', () => {
  expect(cleanLogText('\u001b[1;31mred\u001b[0m\r\n\u001b]0;title\u0007\u202e\n')).toBe(
    'red\n\\x1b]0;title\\x07\\u202e\n',
  );
});
