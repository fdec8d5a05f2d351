import {LineView, type LogStream} from '../../../cri/index.js';
import type {LogFile, PlainLogFile} from '../log-file.js';
import {LineReader} from '../line-reader.js';
import type {StreamStarts} from '../log-range.js';
import {isSelected, type LogSelection} from '../log-selection.js';

const BLOCK_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
/** Number of bytes of a line that suffice to parse its header. */
const MAX_LINE_BYTES = 256 * 1024;
/** Number of bytes in which the start of a partial line is searched. */
const PARTS_LOOKBACK = 4 * 1024 * 1024;

/**
 * Finds the start of the last lines of a log, file by file from the newest. A line written in parts counts once and
 * is selected completely; an incomplete last line counts too.
 */
export class TailFinder {
  readonly #selection: LogSelection;
  #remaining: number;
  /** Number of bytes searched after all lines were found, for lines whose start is still unknown. */
  #surplus = 0;
  /** Streams whose first selected line may start further back. */
  readonly #open = new Set<LogStream>();
  readonly #line = new LineView();

  constructor(count: number, selection: LogSelection) {
    this.#remaining = count;
    this.#selection = selection;
  }

  /** True if no earlier line is selected. */
  get done(): boolean {
    return this.#remaining === 0 && (this.#open.size === 0 || this.#surplus > PARTS_LOOKBACK);
  }

  /**
   * Returns the offsets from which lines of a plain file are selected. Reads the file backwards, only as far as
   * needed.
   */
  async addPlain(file: PlainLogFile, size: number): Promise<StreamStarts> {
    const starts = {stdout: size, stderr: size};
    let lineEnd = size;
    for (let end = size; end > 0; end -= BLOCK_BYTES) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const block = Buffer.allocUnsafe(end - start);
      await file.readAt(block, start);
      for (;;) {
        const lineStart = lineStartBefore(block, lineEnd - start, start);
        if (this.done || lineStart === undefined) break;
        if (lineEnd <= end) this.#take(block.subarray(lineStart - start, lineEnd - start), lineStart, starts);
        else this.#take(await lineAt(file, lineStart, lineEnd), lineStart, starts);
        lineEnd = lineStart;
      }
      if (this.done) break;
    }
    return starts;
  }

  /**
   * Returns the offsets in the uncompressed text from which lines of a gzipped file are selected. It cannot be read
   * backwards, so it is read twice.
   */
  async addGzipped(open: () => Promise<LogFile>): Promise<StreamStarts> {
    let total = 0;
    for await (const {isStart} of this.#lines(open)) if (isStart) total += 1;
    const starts = {stdout: Infinity, stderr: Infinity};
    let skip = Math.max(0, total - this.#remaining);
    this.#remaining = Math.max(0, this.#remaining - total);
    for await (const {isStart, stream, at} of this.#lines(open))
      if (isStart && --skip < 0) starts[stream] = Math.min(starts[stream], at);
    this.#open.clear();
    return starts;
  }

  /** Takes lines from the last to the first. */
  #take(text: Buffer, at: number, starts: Record<LogStream, number>): void {
    const line = this.#line;
    if (this.#remaining === 0) this.#surplus += text.length;
    if (!line.scan(text, 0, text.length) || !isSelected(line, this.#selection)) return;
    const {stream, partial} = line;
    const continues = partial && this.#open.has(stream);
    if (!continues) {
      this.#open.delete(stream);
      if (this.#remaining === 0) return;
      this.#remaining -= 1;
      this.#open.add(stream);
    }
    starts[stream] = at;
  }

  async *#lines(
    open: () => Promise<LogFile>,
  ): AsyncGenerator<{readonly isStart: boolean; readonly stream: LogStream; readonly at: number}> {
    await using file = await open();
    const reader = new LineReader(file);
    const inLine = {stdout: false, stderr: false};
    do {
      while (reader.next()) {
        const {stream, partial} = reader.line;
        if (!reader.known || !isSelected(reader.line, this.#selection)) continue;
        yield {isStart: !inLine[stream], stream, at: reader.lineStart};
        inLine[stream] = partial;
      }
    } while (await reader.fill());
  }
}

/**
 * Returns the offset in the file of the line that ends at `lineEnd` in the block; undefined if it starts before the
 * block.
 */
function lineStartBefore(block: Buffer, lineEnd: number, blockStart: number): number | undefined {
  if (blockStart + lineEnd === 0) return undefined;
  const from = Math.min(lineEnd - 2, block.length - 1);
  const newline = from < 0 ? -1 : block.lastIndexOf(NEWLINE, from);
  if (newline !== -1) return blockStart + newline + 1;
  return blockStart === 0 ? 0 : undefined;
}

async function lineAt(file: PlainLogFile, start: number, end: number): Promise<Buffer> {
  const text = Buffer.allocUnsafe(Math.min(end - start, MAX_LINE_BYTES));
  await file.readAt(text, start);
  return text;
}
