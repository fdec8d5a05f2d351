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
  const lines = [columns.map(({header}) => header)];
  for (const row of rows) lines.push(columns.map(({value}) => value(row)));
  const text = laidOut(lines, minWidth, codeUnits);
  // Hardly any text has characters of two code units, and to ask once is quick.
  return SURROGATE.test(text) ? laidOut(lines, minWidth, codePoints) : text;
}

const SURROGATE = /[\ud800-\udbff]/;

type Lines = readonly (readonly string[])[];

/** The text of a table from the cells of its lines. */
function laidOut(lines: Lines, minWidth: number, lengthOf: (text: string) => number): string {
  const widths = widthsOf(lines, minWidth, lengthOf);
  const blanks = ' '.repeat(Math.max(0, ...widths));
  let text = '';
  for (const cells of lines) {
    for (let column = 0; column < widths.length; column++) {
      const cell = cells[column] ?? '';
      text += cell + blanks.slice(0, (widths[column] ?? 0) - lengthOf(cell));
    }
    text += `${cells[widths.length] ?? ''}\n`;
  }
  return text;
}

/** The widths of all columns but the last. */
function widthsOf(lines: Lines, minWidth: number, lengthOf: (text: string) => number): readonly number[] {
  const widths = Array<number>(Math.max(0, (lines[0]?.length ?? 0) - 1)).fill(minWidth);
  for (const cells of lines)
    for (let column = 0; column < widths.length; column++) {
      const width = lengthOf(cells[column] ?? '') + PADDING;
      if (width > (widths[column] ?? 0)) widths[column] = width;
    }
  return widths;
}

function codeUnits(text: string): number {
  return text.length;
}

function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}
