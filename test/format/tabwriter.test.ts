import {expect, test} from 'vitest';
import {alignTabs} from '../../src/format/tabwriter.js';

const LAYOUT = {minWidth: 0, padding: 2};

// Output of Go's text/tabwriter for the same text with Init(out, 0, 8, 2, ' ', 0).
test.each([
  ['one column', 'Name:\tweb\nNamespace:\tdefault', 'Name:       web\nNamespace:  default'],
  ['text after the last tab is not a cell', 'a\tlong long\nb\tc\td', 'a  long long\nb  c  d'],
  ['a line without a tab ends the column', 'a:\t1\ntitle\nlonger:\t2', 'a:  1\ntitle\nlonger:  2'],
  [
    'a column ends at a line without such a cell',
    'a\tb\tc\naa\tb\naaa\tbbb\tc',
    'a    b  c\naa   b\naaa  bbb  c',
  ],
  ['cells may be empty', 'a\tb\n\tc', 'a  b\n   c'],
  ['the width is counted in characters', 'ü\t1\n😀x\t2', 'ü   1\n😀x  2'],
  ['nothing', '', ''],
])('%s', (_, text, aligned) => {
  expect(alignTabs(text, LAYOUT)).toBe(aligned);
});

test('a column has the minimum width', () => {
  expect(alignTabs('a\tb', {minWidth: 6, padding: 3})).toBe('a     b');
});
