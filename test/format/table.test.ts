import {expect, test} from 'vitest';
import {renderTable, type Column} from '../../src/format/table.js';
import {LINEAR_GROWTH, measureTimeGrowth} from '../base/time-growth.js';

const tableOf = (...args: Parameters<typeof renderTable<readonly string[]>>): string =>
  renderTable(...args).toString();

const COLUMNS: readonly Column<readonly string[]>[] = [
  {header: 'ID', value: ([id = '']) => id},
  {header: 'NAME', value: ([, name = '']) => name},
  {header: 'LAST', value: ([, , last = '']) => last},
];

test('a table without rows consists of the header', () => {
  expect(tableOf(COLUMNS, [])).toBe('ID                  NAME                LAST\n');
});

test('a column is three wider than its longest cell, and at least twenty wide', () => {
  expect(tableOf(COLUMNS, [['a', 'x'.repeat(18), 'end']])).toBe(
    `ID                  NAME                 LAST\na                   ${'x'.repeat(18)}   end\n`,
  );
});

test('cells are measured in code points', () => {
  const [, row] = tableOf(COLUMNS, [['a', 'ü😀', 'end']]).split('\n');
  expect(row).toBe(`a                   ü😀${' '.repeat(18)}end`);
});

test('an empty last cell preserves the padding of the previous one', () => {
  const [, row] = tableOf(COLUMNS, [['a', 'b', '']]).split('\n');
  expect(row).toBe(`a${' '.repeat(19)}b${' '.repeat(19)}`);
});

test('forty thousand rows are formatted in linear time', () => {
  const growth = measureTimeGrowth(40_000, (length) => {
    const rows = Array.from({length}, (_, index) => [`id${index}`, 'name', 'last']);
    expect(tableOf(COLUMNS, rows).split('\n')).toHaveLength(length + 2);
  });
  expect(growth).toBeLessThan(LINEAR_GROWTH);
});

test('the buffer grows for multibyte characters', () => {
  const rows = Array.from({length: 100}, () => ['é', '\u4e2d'.repeat(300), '😀'.repeat(300)]);
  const line = `é${' '.repeat(19)}${'\u4e2d'.repeat(300)}   ${'😀'.repeat(300)}`;
  expect(tableOf(COLUMNS, rows).split('\n').slice(1)).toEqual([...rows.map(() => line), '']);
});
