import {expect, test} from 'vitest';
import {LineSplitter, showLine} from '../../../src/features/top/actions/log-lines.js';

test('lines are complete even if characters arrive in pieces', () => {
  const splitter = new LineSplitter();
  const bytes = Buffer.from('first\nsecond ü\nrest');
  const cut = bytes.indexOf(0xbc);
  expect(splitter.add(bytes.subarray(0, cut))).toEqual(['first']);
  expect(splitter.add(bytes.subarray(cut))).toEqual(['second ü']);
  expect(splitter.add(Buffer.from('\n'))).toEqual(['rest']);
});

test('a line without end is shown in pieces, so that memory is bounded', () => {
  const splitter = new LineSplitter();
  expect(splitter.add(Buffer.alloc(20_000, 'x'))).toEqual(['x'.repeat(16 * 1024)]);
});

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['10%\r50%\r100%\r', '100%'],
  ['a\tb', 'a    b'],
  ['\u001b]0;title\u0007\u001b[2J', String.raw`\x1b]0;title\x07\x1b[2J`],
  ['a\u202eb', String.raw`a\u202eb`],
])('%j is shown as %s', (line, shown) => {
  expect(showLine(line)).toBe(shown);
});
