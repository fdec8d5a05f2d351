import {escapeToLine} from './escape-controls.js';
import type {Column} from './table.js';

/** Layout of the tables of kubectl (printers.GetNewTabWriter). */
const MIN_WIDTH = 6;
const PADDING = 3;

/** Options of a growing table. */
interface GrowingTableOptions {
  readonly header: boolean;
  /** True if the header is also printed without any rows. */
  readonly headerOfNone?: boolean;
}

/** Table that is printed incrementally; its columns only grow. */
export class GrowingTable<Row> {
  readonly #columns: readonly Column<Row>[];
  readonly #widths: number[];
  readonly #headerOfNone: boolean;
  #header: boolean;

  constructor(columns: readonly Column<Row>[], {header, headerOfNone = false}: GrowingTableOptions) {
    this.#columns = columns;
    this.#widths = columns.map(() => MIN_WIDTH);
    this.#header = header;
    this.#headerOfNone = headerOfNone;
  }

  /** Formats rows, below the header if they are the first ones. */
  text(rows: readonly Row[]): string {
    const lines = rows.map((row) => this.#columns.map(({value}) => escapeToLine(value(row))));
    if (this.#header && (rows.length > 0 || this.#headerOfNone)) {
      lines.unshift(this.#columns.map(({header}) => escapeToLine(header)));
      this.#header = false;
    }
    for (const line of lines)
      for (const [index, cell] of line.entries())
        this.#widths[index] = Math.max(this.#widths[index] ?? 0, lengthOf(cell) + PADDING);
    return lines.map((line) => `${this.#line(line)}\n`).join('');
  }

  #line(cells: readonly string[]): string {
    return cells
      .map((cell, index) => (index === cells.length - 1 ? cell : padded(cell, this.#widths[index] ?? 0)))
      .join('');
  }
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - lengthOf(cell));
}

/** Returns the width in code points. */
function lengthOf(cell: string): number {
  return Array.from(cell).length;
}
