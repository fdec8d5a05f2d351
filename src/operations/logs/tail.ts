import {LineView, type LogStream} from '../../cri/index.js';
import type {LogFile, PlainLogFile} from './log-file.js';
import {LineReader} from './line-reader.js';
import {isSelected, type LogSelection} from './selection.js';

/** From which byte of a file on the lines of each stream are wanted. */
export type StreamStarts = Readonly<Record<LogStream, number>>;

const BLOCK = 64 * 1024;
const NEWLINE = 0x0a;
/** So much of a line is enough to tell what it is. */
const LONGEST_LINE = 256 * 1024;
/** How far back the beginning of a line that was written in parts is looked for. */
const PARTS_LOOKBACK = 4 * 1024 * 1024;

/**
 * Finds where the last lines of a log begin, in one file after the other from the newest on. A line that was
 * written in parts counts once and is wanted whole; an unfinished last line counts too.
 */
export class Tail {
  readonly #selection: LogSelection;
  #missing: number;
  /** How much has been looked at since all were there, for those whose beginning is still open. */
  #surplus = 0;
  /** Streams whose first wanted line may have begun further back. */
  readonly #open = new Set<LogStream>();
  readonly #line = new LineView();

  constructor(count: number, selection: LogSelection) {
    this.#missing = count;
    this.#selection = selection;
  }

  /** True when no line in front of those seen can be wanted. */
  get done(): boolean {
    return this.#missing === 0 && (this.#open.size === 0 || this.#surplus > PARTS_LOOKBACK);
  }

  /** What of this file is wanted. Reads it backwards, only as far as needed. */
  async addPlain(file: PlainLogFile, size: number): Promise<StreamStarts> {
    const starts = {stdout: size, stderr: size};
    let lineEnd = size;
    for (let end = size; end > 0; end -= BLOCK) {
      const start = Math.max(0, end - BLOCK);
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

  /** What of a gzipped file is wanted, by the bytes of its text. It can't be read backwards: it is read twice. */
  async addGzipped(open: () => Promise<LogFile>): Promise<StreamStarts> {
    let total = 0;
    for await (const {begins} of this.#lines(open)) if (begins) total += 1;
    const starts = {stdout: Infinity, stderr: Infinity};
    let skip = Math.max(0, total - this.#missing);
    this.#missing = Math.max(0, this.#missing - total);
    for await (const {begins, stream, at} of this.#lines(open))
      if (begins && --skip < 0) starts[stream] = Math.min(starts[stream], at);
    this.#open.clear();
    return starts;
  }

  /** Takes the lines from the last to the first. */
  #take(text: Buffer, at: number, starts: Record<LogStream, number>): void {
    const line = this.#line;
    if (this.#missing === 0) this.#surplus += text.length;
    if (!line.scan(text, 0, text.length) || !isSelected(line, this.#selection)) return;
    const {stream, partial} = line;
    const continues = partial && this.#open.has(stream);
    if (!continues) {
      this.#open.delete(stream);
      if (this.#missing === 0) return;
      this.#missing -= 1;
      this.#open.add(stream);
    }
    starts[stream] = at;
  }

  async *#lines(
    open: () => Promise<LogFile>,
  ): AsyncGenerator<{readonly begins: boolean; readonly stream: LogStream; readonly at: number}> {
    await using file = await open();
    const reader = new LineReader(file);
    const inLine = {stdout: false, stderr: false};
    do {
      while (reader.next()) {
        const {stream, partial} = reader.line;
        if (!reader.known || !isSelected(reader.line, this.#selection)) continue;
        yield {begins: !inLine[stream], stream, at: reader.lineStart};
        inLine[stream] = partial;
      }
    } while (await reader.fill());
  }
}

/** Where the line that ends at `lineEnd` of the block begins in the file; undefined when in front of the block. */
function lineStartBefore(block: Buffer, lineEnd: number, blockStart: number): number | undefined {
  if (blockStart + lineEnd === 0) return undefined;
  const from = Math.min(lineEnd - 2, block.length - 1);
  const newline = from < 0 ? -1 : block.lastIndexOf(NEWLINE, from);
  if (newline !== -1) return blockStart + newline + 1;
  return blockStart === 0 ? 0 : undefined;
}

async function lineAt(file: PlainLogFile, start: number, end: number): Promise<Buffer> {
  const text = Buffer.allocUnsafe(Math.min(end - start, LONGEST_LINE));
  await file.readAt(text, start);
  return text;
}

/**
 * Where the last `count` physical lines of a file begin, as crictl counts them: by line ends, so that what stands
 * behind the last one is no line of its own.
 */
export async function findPhysicalTail(file: PlainLogFile, size: number, count: number): Promise<number> {
  let missing = count + 1;
  for (let end = size; end > 0; end -= BLOCK) {
    const start = Math.max(0, end - BLOCK);
    const block = Buffer.allocUnsafe(end - start);
    await file.readAt(block, start);
    for (let newline = block.lastIndexOf(NEWLINE); newline !== -1;) {
      missing -= 1;
      if (missing === 0) return start + newline + 1;
      newline = newline === 0 ? -1 : block.lastIndexOf(NEWLINE, newline - 1);
    }
  }
  return 0;
}
