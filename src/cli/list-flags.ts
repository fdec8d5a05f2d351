import * as Flags from '@oclif/core/flags';
import {compare} from '../base/compare.js';
import {UsageError} from '../base/errors.js';
import {renderTable, type Column} from '../format/table.js';
import {visibleInLine} from '../format/visible.js';

/** How rows are ordered, by the words that `--sort` takes. */
export type Orders<Row> = Readonly<Record<string, (a: Row, b: Row) => number>>;

/** The flags by which a list is arranged; `orders` are the keys that it can be sorted by. */
export function listFlags(orders: Readonly<Record<string, unknown>>) {
  return {
    quiet: Flags.boolean({char: 'q', description: 'Print ids only.'}),
    'no-trunc': Flags.boolean({description: 'Print whole ids.'}),
    'no-headers': Flags.boolean({description: 'Leave the names of the columns out.'}),
    sort: Flags.string({
      helpValue: Object.keys(orders).join('|'),
      description: 'What to sort by: times with the newest first, sizes with the largest first.',
    }),
    reverse: Flags.boolean({description: 'Turn the order round.'}),
  };
}

/** The values of these flags. */
export interface ListFlagValues {
  readonly sort?: string | undefined;
  readonly reverse: boolean;
  readonly 'no-headers': boolean;
}

/** Puts rows in the order that flags name, or leaves them in theirs. Throws UsageError for an order that is none. */
export function arranger<Row>(
  {sort, reverse}: ListFlagValues,
  orders: Orders<Row>,
): (rows: readonly Row[]) => readonly Row[] {
  const order = sort === undefined ? undefined : Object.hasOwn(orders, sort) ? orders[sort] : undefined;
  if (sort !== undefined && order === undefined)
    throw new UsageError(`--sort should be one of ${Object.keys(orders).join(', ')}, not "${sort}"`);
  return (rows) => {
    const sorted = order === undefined ? rows : rows.toSorted(order);
    return reverse ? sorted.toReversed() : sorted;
  };
}

/** An order by texts, as bytes have it. */
export function byText<Row>(text: (row: Row) => string): (a: Row, b: Row) => number {
  return (a, b) => compare(text(a), text(b));
}

/** An order with the largest first. */
export function byLargest<Row>(value: (row: Row) => bigint | number): (a: Row, b: Row) => number {
  return (a, b) => compare(value(b), value(a));
}

/** How wide a column is at least in tables that crictl does not have. */
const NARROW = 0;

/** How a table is laid out. */
interface TableLayout {
  readonly 'no-headers': boolean;
  /** Without room to spare. */
  readonly narrow?: boolean;
  /** No cell can steer the terminal, or leave its line. */
  readonly forTerminal: boolean;
}

/** A table as flags want it, in UTF-8. */
export function listTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  {'no-headers': bare, narrow = false, forTerminal}: TableLayout,
): Buffer {
  const shown = forTerminal ? columns.map(visibleColumn) : columns;
  const table = narrow ? renderTable(shown, rows, NARROW) : renderTable(shown, rows);
  return bare ? table.subarray(table.indexOf('\n') + 1) : table;
}

function visibleColumn<Row>({header, value}: Column<Row>): Column<Row> {
  return {header, value: (row) => visibleInLine(value(row))};
}
