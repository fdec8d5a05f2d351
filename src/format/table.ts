/** One column of a table: its header and the text of its cells. */
export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
}

/** The measures of crictl's tables (Go's tabwriter with minwidth 20 and padding 3). */
const MIN_WIDTH = 20;
const PADDING = 3;

/**
 * A table with its header and a line end after every row, as Go's tabwriter aligns it: every column but the
 * last is at least `minWidth` wide, measured in code points; the last one is not padded.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  minWidth = MIN_WIDTH,
): string {
  const lines = [
    columns.map(({header}) => header),
    ...rows.map((row) => columns.map(({value}) => value(row))),
  ];
  const widths = columns.map((_, index) =>
    lines.reduce((width, cells) => Math.max(width, codePoints(cells[index] ?? '') + PADDING), minWidth),
  );
  return lines.map((cells) => `${line(cells, widths)}\n`).join('');
}

function line(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, index) =>
      index === cells.length - 1 ? cell : cell + ' '.repeat((widths[index] ?? 0) - codePoints(cell)),
    )
    .join('');
}

function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
