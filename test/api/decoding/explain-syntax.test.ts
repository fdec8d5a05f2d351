import {expect, test} from 'vitest';
import {parseYaml} from '../../../src/api/decoding/parse-yaml.js';

const messageOf = (text: string): string => parseYaml(text)[0]?.problems[0]?.message ?? '';

test.each([
  ['a:\n  - b: 1\n   c: 2\n', 'line 3 is indented by 3 spaces; the item above uses 4'],
  ['spec:\n  list:\n    - name: a\n   - name: b\n', 'line 4 is indented by 3 spaces; the item above uses 4'],
  ['l:\n  - a: x\n    b: y\n   c: [z]\n', 'line 4 is indented by 3 spaces; the line above uses 4'],
  ['a:\n  b: 1\n c: 2\n', 'line 3 is indented by 1 space; the line above uses 2'],
  ['a:\n  b: |\n    text\n # note\n c: 2\n', 'line 5 is indented by 1 space; the line above uses 2'],
  ['key: value\n  other: 1\n', 'line 2 is indented by 2 spaces; the line above uses 0'],
  [
    'a:\n  - b\n  c: 1\n',
    'line 3 is indented by 2 spaces like the items above, but does not start with a dash',
  ],
  ['a:\n\tb: 1\n', 'a line is indented by a tab; use spaces'],
  ['a: b: c\n', 'a value that contains a colon and a space must be in quotes'],
  ['a: [1,2\nb: 3\n', 'a list in brackets is not closed by ] or not indented'],
  ['a: {b: 1\n', 'a map in braces is not closed by } or not indented'],
  ['a: "x\nb: 1\n', 'a text in quotes is not closed'],
  ['a: 1\nb\nc: 2\n', 'a key must be followed by a colon and a value'],
  ['x: @foo\n', 'a value that starts with @ must be in quotes'],
])('%j: %s', (text, message) => {
  expect(messageOf(text)).toBe(message);
});
