import {expect, test} from 'vitest';
import {formatPercent} from '../../../../src/cli/output/views/format-percent.js';
import {containerStatsColumns, sandboxStatsColumns} from '../../../../src/features/stats/stats-table.js';
import {topColumns} from '../../../../src/features/top/metrics/top-table.js';
import type {Column} from '../../../../src/format/table.js';

test.each([
  [12.345, '12.35'],
  [0.125, '0.12'],
  [0.375, '0.38'],
  [-0.125, '-0.12'],
  [0, '0.00'],
  [250, '250.00'],
])('%d %% is formatted as %s, with halves rounded like Go', (value, text) => {
  expect(formatPercent(value)).toBe(text);
});

test('the tables of stats and top use this format', () => {
  const usage = {cpuPercent: 0.125, memoryBytes: 0n, idle: false};
  const cpu = <Row>(columns: readonly Column<Row>[], row: unknown): string | undefined =>
    columns.find(({header}) => header === 'CPU %')?.value(row as Row);
  expect(cpu(containerStatsColumns('table'), usage)).toBe('0.12');
  expect(cpu(sandboxStatsColumns('table'), usage)).toBe('0.12');
  expect(cpu(topColumns([], {hasNodes: false}), usage)).toBe('0.12');
});
