import type {LineView, LogStream} from '../../cri/index.js';
import {LINE_END, formatLineTime, type BufferedLogWriter} from './buffered-log-writer.js';

/** Writes the lines of one log. */
export interface LogLineFormatter {
  add(line: LineView): void;
  /** Writes buffered parts of lines, because no more input is available for now. */
  flushHeld(): void;
}

/** Options of formatters. */
export interface LogFormatOptions {
  /** Writes the time before each line, with nine digits of the fraction, so that lines align. */
  readonly timestamps?: boolean | undefined;
  /** Written before each line. Lines with different prefixes are never joined. */
  readonly prefix?: string | undefined;
}

/** Number of bytes of a partial line that are buffered until it is complete. */
const MAX_BUFFERED_BYTES = 256 * 1024;

/** State of a line that is written in parts. */
interface PartialLine {
  readonly buffered: Buffer[];
  bufferedLength: number;
  /** True between the first and the last part. */
  started: boolean;
  /** True if its start has been written. */
  written: boolean;
}

const emptyLine = (): PartialLine => ({buffered: [], bufferedLength: 0, started: false, written: false});

/** Joins the parts of partial lines per stream, regardless of what was written between them. */
export class JoiningFormatter implements LogLineFormatter {
  readonly #writer: BufferedLogWriter;
  readonly #timestamps: boolean;
  readonly #prefix: Buffer | undefined;
  readonly #partialLines = {stdout: emptyLine(), stderr: emptyLine()} satisfies Record<LogStream, unknown>;

  constructor(writer: BufferedLogWriter, {timestamps = false, prefix}: LogFormatOptions) {
    this.#writer = writer;
    this.#timestamps = timestamps;
    this.#prefix = prefix === undefined ? undefined : Buffer.from(prefix);
  }

  add(line: LineView): void {
    const {stream, partial} = line;
    const state = this.#partialLines[stream];
    if (!partial && !state.started) {
      this.#startOutput(stream, state);
      if (this.#prefix !== undefined) this.#writer.put(stream, this.#prefix);
      if (this.#timestamps) this.#writer.putTime(line);
      this.#writer.putContent(line);
      return;
    }
    this.#buffer(line, state);
    if (!partial || state.bufferedLength > MAX_BUFFERED_BYTES) this.#writeBuffered(stream, state);
    state.started = partial;
    if (!partial) state.written = false;
  }

  flushHeld(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const state = this.#partialLines[stream];
      if (state.buffered.length > 0) this.#writeBuffered(stream, state);
    }
  }

  #buffer(line: LineView, state: PartialLine): void {
    const {buffered} = state;
    if (!state.started && this.#prefix !== undefined) buffered.push(this.#prefix);
    if (!state.started && this.#timestamps) buffered.push(formatLineTime(line));
    buffered.push(Buffer.from(line.bytes.subarray(line.from, line.to)));
    state.bufferedLength += line.to - line.from;
  }

  #writeBuffered(stream: LogStream, state: PartialLine): void {
    this.#startOutput(stream, state);
    for (const bytes of state.buffered.splice(0)) this.#writer.put(stream, bytes);
    state.bufferedLength = 0;
    state.written = true;
  }

  /** If lines have prefixes, prevents output from being appended to an incomplete line of another formatter. */
  #startOutput(stream: LogStream, state: PartialLine): void {
    if (this.#prefix === undefined) return;
    const output = this.#writer.outputFor(stream);
    if (output.lastWriter !== state && !output.atLineStart) this.#writer.put(stream, LINE_END);
    if (output.lastWriter !== state && state.written) this.#writer.put(stream, this.#prefix);
    output.lastWriter = state;
  }
}
