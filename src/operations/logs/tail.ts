import type {FileHandle} from 'node:fs/promises';
import {parseLine, type LogLine, type LogStream} from '../../cri/index.js';

/** From which byte of the file on the lines of each stream are wanted. */
export type StreamStarts = Readonly<Record<LogStream, number>>;

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;
/** How far back the beginning of a line that was written in parts is looked for. */
const PARTS_LOOKBACK = 4 * 1024 * 1024;

/**
 * Where the last `count` lines of a log begin. A line that was written in parts counts once and is wanted
 * whole; an unfinished last line counts too. Reads the file backwards, only as far as needed.
 */
export async function findTail(
  file: FileHandle,
  size: number,
  count: number,
  streams: ReadonlySet<LogStream>,
): Promise<StreamStarts> {
  const tail = new Tail(count, size);
  for await (const {line, offset} of linesBackwards(file, size)) {
    if (tail.done(offset)) break;
    const parsed = parseLine(line);
    if (parsed !== undefined && streams.has(parsed.stream)) tail.add(parsed, offset);
  }
  return tail.starts;
}

class Tail {
  readonly starts: Record<LogStream, number>;
  #missing: number;
  #completeAt: number | undefined;
  /** Streams whose first wanted line may have begun further back. */
  readonly #open = new Set<LogStream>();

  constructor(count: number, size: number) {
    this.#missing = count;
    this.starts = {stdout: size, stderr: size};
  }

  /** True when no line in front of `offset` can be wanted. */
  done(offset: number): boolean {
    if (this.#missing > 0) return false;
    this.#completeAt ??= offset;
    return this.#open.size === 0 || this.#completeAt - offset > PARTS_LOOKBACK;
  }

  /** Takes the lines from the last to the first. */
  add({stream, partial}: LogLine, offset: number): void {
    const continues = partial && this.#open.has(stream);
    if (!continues) {
      this.#open.delete(stream);
      if (this.#missing === 0) return;
      this.#missing -= 1;
      this.#open.add(stream);
    }
    this.starts[stream] = offset;
  }
}

interface OffsetLine {
  readonly line: Buffer;
  readonly offset: number;
}

async function* linesBackwards(file: FileHandle, size: number): AsyncGenerator<OffsetLine> {
  let rest: Buffer = Buffer.alloc(0);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - CHUNK);
    const chunk = Buffer.alloc(end - start);
    await file.read(chunk, 0, chunk.length, start);
    rest = Buffer.concat([chunk, rest]);
    for (let cut = lastLineStart(rest); cut > 0; cut = lastLineStart(rest)) {
      yield {line: rest.subarray(cut), offset: start + cut};
      rest = rest.subarray(0, cut);
    }
    end = start;
  }
  if (rest.length > 0) yield {line: rest, offset: 0};
}

/** Where the last line of the text begins; 0 when that may be further in front. */
function lastLineStart(text: Buffer): number {
  return text.length < 2 ? 0 : text.lastIndexOf(NEWLINE, text.length - 2) + 1;
}
