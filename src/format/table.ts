import type {NativeBuffer} from '../base/native-buffer.js';

/** Column of a table: its header and its cells. */
export interface Column<Row> {
  readonly header: string;
  readonly value: (row: Row) => string;
}

/** Layout of crictl's tables (Go's tabwriter with minwidth 20 and padding 3). */
const MIN_WIDTH = 20;
const PADDING = 3;

/**
 * Formats a table in UTF-8 with header and a newline after each row, like Go's tabwriter: every column except the
 * last is at least `minWidth` wide, in code points; the last one is not padded.
 */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  minWidth = MIN_WIDTH,
): Buffer {
  // Column by column, so that each loop calls a single function.
  const cells = columns.map(({value}) => rows.map((row) => value(row)));
  const last = cells.length - 1;
  const widths = cells.map((column, index) =>
    widthOf(column, widthOf([columns[index]?.header ?? ''], index === last ? 0 : minWidth)),
  );
  const lineWidth = widths.reduce((sum, width) => sum + width, 0);
  widths[last] = 0;
  const writer = new CellWriter((rows.length + 1) * lineWidth);
  for (const [index, {header}] of columns.entries()) writer.cell(header, widths[index] ?? 0);
  writer.endLine();
  for (let line = 0; line < rows.length; line++) {
    for (let column = 0; column < cells.length; column++)
      writer.cell(cells[column]?.[line] ?? '', widths[column] ?? 0);
    writer.endLine();
  }
  return writer.written;
}

function widthOf(cells: readonly string[], minWidth: number): number {
  let width = minWidth;
  // A string has at most as many code points as code units.
  for (const cell of cells)
    if (cell.length + PADDING > width) width = Math.max(width, codePoints(cell) + PADDING);
  return width;
}

function codePoints(text: string): number {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0);
}

const NOT_ASCII = /[^\0-\x7f]/;
const BLANK = 0x20;
const LINE_END = 0x0a;
/** Maximum UTF-8 length of a code unit. */
const UNIT_BYTES = 3;

/** Writes padded cells directly as bytes, which takes half the time of building strings first. */
class CellWriter {
  #buffer: NativeBuffer;
  #length = 0;

  /** Creates a writer with approximately `capacity` bytes. */
  constructor(capacity: number) {
    this.#buffer = blanks(capacity);
  }

  get written(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  cell(text: string, width: number): void {
    this.#reserve(Math.max(text.length * UNIT_BYTES, width));
    this.#length += NOT_ASCII.test(text)
      ? this.#buffer.write(text, this.#length) + Math.max(0, width - codePoints(text))
      : Math.max(this.#buffer.latin1Write(text, this.#length), width);
  }

  endLine(): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = LINE_END;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return;
    const larger = blanks((this.#length + bytes) * 2);
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** Returns a buffer of blanks. Node.js would compile its own way of filling a buffer, Buffer.alloc(), in each run. */
function blanks(length: number): NativeBuffer {
  const buffer = Buffer.allocUnsafe(length);
  Uint8Array.prototype.fill.call(buffer, BLANK);
  return buffer as NativeBuffer;
}
