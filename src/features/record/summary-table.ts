import type {JsonObject} from '../../format/json.js';
import {renderTable, type Column} from '../../format/table.js';
import type {MethodSummary} from '../../recording/lines/call-summary.js';

const ms = (value: number | undefined): string =>
  value === undefined ? '-' : value.toFixed(value < 10 ? 2 : 1);

const COLUMNS: readonly Column<MethodSummary>[] = [
  {header: 'METHOD', value: ({method}) => method},
  {header: 'CALLS', value: ({calls}) => String(calls)},
  {header: 'ERRORS', value: ({errors}) => String(errors)},
  {header: 'OPEN', value: ({open}) => String(open)},
  {header: 'P50(ms)', value: ({p50Ms}) => ms(p50Ms)},
  {header: 'P90(ms)', value: ({p90Ms}) => ms(p90Ms)},
  {header: 'P99(ms)', value: ({p99Ms}) => ms(p99Ms)},
  {header: 'MAX(ms)', value: ({maxMs}) => ms(maxMs)},
];

/** Minimum width of a column. */
const NARROW = 8;

/** Formats counts as a table with a row for each method. */
export function formatSummary(
  methods: readonly MethodSummary[],
  {hasHeaders}: {readonly hasHeaders: boolean},
): string {
  const table = renderTable(COLUMNS, methods, NARROW).toString();
  return hasHeaders ? table : table.slice(table.indexOf('\n') + 1);
}

/** Returns counts as JSON, with times in ms to the microsecond. */
export function summaryJson(methods: readonly MethodSummary[]): JsonObject {
  return {
    methods: methods.map((each) =>
      Object.fromEntries(
        Object.entries(each)
          .filter(isKnown)
          .map(([name, value]) => [
            name,
            typeof value === 'number' ? Math.round(value * 1000) / 1000 : value,
          ]),
      ),
    ),
  };
}

function isKnown<T>(entry: readonly [string, T | undefined]): entry is [string, T] {
  return entry[1] !== undefined;
}
