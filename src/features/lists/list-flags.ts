import * as Flags from '@oclif/core/flags';
import {compare} from '../../base/compare.js';
import {UsageError} from '../../base/errors.js';
import {renderTable, type Column} from '../../format/table.js';
import {escapeToLine} from '../../format/escape-controls.js';
import type {CommandReporter} from '../../cli/output/command-reporter.js';
import {EXIT} from '../../cli/process/exit-codes.js';
import {kcriOnlyFlags, withChoices} from '../../cli/flags/flag-types.js';
import type {OutputFlagValues} from '../../cli/output/output-format.js';

/** Compare functions by sort key. */
export type SortOrders<Row> = Readonly<Record<string, (a: Row, b: Row) => number>>;

/** Returns the flags of a list command; `orders` has its sort keys. */
export function listFlags(orders: Readonly<Record<string, unknown>>) {
  return {
    quiet: Flags.boolean({char: 'q', description: 'Print only IDs.'}),
    'no-trunc': Flags.boolean({description: 'Do not truncate IDs.'}),
    'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
    sort: withChoices(
      Flags.string({
        helpValue: 'KEY',
        description: 'Sort key; newest and largest first.',
      }),
      Object.keys(orders),
    ),
    reverse: Flags.boolean({description: 'Reverse the sort order.'}),
  };
}

/** Values of the list flags. */
export interface ListFlagValues extends OutputFlagValues {
  readonly sort?: string | undefined;
  readonly reverse: boolean;
  readonly 'no-headers': boolean;
}

/** Returns a function that sorts rows by the flags; without `--sort` it preserves their order. Throws UsageError. */
export function createSorter<Row>(
  {sort, reverse}: ListFlagValues,
  orders: SortOrders<Row>,
): (rows: readonly Row[]) => readonly Row[] {
  const order = sort === undefined ? undefined : Object.hasOwn(orders, sort) ? orders[sort] : undefined;
  if (sort !== undefined && order === undefined)
    throw new UsageError(`invalid --sort "${sort}": must be one of ${Object.keys(orders).join(', ')}`);
  return (rows) => {
    const sorted = order === undefined ? rows : rows.toSorted(order);
    return reverse ? sorted.toReversed() : sorted;
  };
}

/** Returns a compare function by text, in byte order. */
export function compareByText<Row>(text: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => compare(text(a), text(b));
}

/** Returns a compare function by number, largest first. */
export function compareByLargest<Row>(value: (row: Row) => bigint | number): (a: Row, b: Row) => number {
  return (a, b) => compare(value(b), value(a));
}

/** Minimum column width of tables that crictl does not have. */
const NARROW = 0;

/** Layout of a table. */
interface TableLayout {
  readonly 'no-headers': boolean;
  /** True to use the minimum column width. */
  readonly narrow?: boolean;
  /** True to escape control characters and line breaks in cells. */
  readonly forTerminal: boolean;
}

/** Returns the table in UTF-8, with the layout that the flags select. */
export function formatListTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  {'no-headers': bare, narrow = false, forTerminal}: TableLayout,
): Buffer {
  const shown = forTerminal ? columns.map(visibleColumn) : columns;
  const table = narrow ? renderTable(shown, rows, NARROW) : renderTable(shown, rows);
  return bare ? table.subarray(table.indexOf('\n') + 1) : table;
}

function visibleColumn<Row>({header, value}: Column<Row>): Column<Row> {
  return {header, value: (row) => escapeToLine(value(row))};
}

/** Flag `--exit-code` of lists. */
export const EXIT_CODE_FLAG = kcriOnlyFlags({
  'exit-code': Flags.boolean({description: `Exit with ${EXIT.emptyList} if nothing matches.`}),
});

/** Values of the flag, and of the flag that excludes it. */
interface ExitCodeValues {
  readonly 'exit-code'?: boolean | undefined;
  readonly watch?: boolean;
}

/** Throws UsageError for `--exit-code` with `--watch`, which does not end by itself. */
export function checkExitCodeFlag({'exit-code': wanted, watch}: ExitCodeValues): void {
  if (wanted === true && watch === true)
    throw new UsageError('--exit-code and --watch are mutually exclusive');
}

/** Sets the exit code for an empty list if the flag asks for it. */
export function setListExitCode(
  report: Pick<CommandReporter, 'setExitCode'>,
  flags: ExitCodeValues,
  count: number,
): void {
  if (flags['exit-code'] === true && count === 0) report.setExitCode(EXIT.emptyList);
}
