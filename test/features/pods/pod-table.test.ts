import {expect, test} from 'vitest';
import {GrowingTable} from '../../../src/format/growing-table.js';

test('columns stay aligned when they grow, including characters outside the BMP', () => {
  const columns = [
    {header: 'NAME', value: (row: readonly string[]) => row[0] ?? ''},
    {header: 'NOTE', value: (row: readonly string[]) => row[1] ?? ''},
  ];
  const table = new GrowingTable(columns, {header: true});
  expect(table.text([])).toBe('');
  expect(
    table.text([
      ['web', 'a'],
      ['\u{1f600}\u{1f600}', 'b'],
    ]),
  ).toBe('NAME   NOTE\nweb    a\n\u{1f600}\u{1f600}     b\n');
  expect(table.text([['a-longer-name', 'c']])).toBe('a-longer-name   c\n');
});
