import type {LineView, LogStream} from '../../cri/index.js';

/** Destination of log output. */
export interface LogSink {
  /** Writes bytes, which the caller does not modify afterwards. */
  write(stream: LogStream, bytes: Uint8Array): void;
  /** Resolves when the sink accepts more. */
  ready(): Promise<void>;
  /**
   * Resolves when stdout has taken everything that was written to it. Rejects if its reader has closed it. Without it,
   * stderr does not wait for stdout.
   */
  stdoutTaken?(): Promise<void>;
  /**
   * True if both streams have the same destination, such as a terminal, so that their order matters. Default false.
   */
  readonly together?: boolean;
}

const BATCH_BYTES = 256 * 1024;
/** Length below which a loop copies faster than Buffer.copy. */
const SHORT = 48;
/** Length of `.` and nine digits after the seconds. */
const FRACTION = 10;
const SECONDS_LENGTH = '2006-01-02T15:04:05'.length;
const [SPACE, NEWLINE, DOT, ZERO, LETTER_Z] = [0x20, 0x0a, 0x2e, 0x30, 0x5a];

/** Collects output into large chunks and counts it. */
export class BufferedLogWriter {
  readonly #sink: LogSink;
  readonly #batches: Readonly<Record<LogStream, Batch>>;
  #remaining: number;
  #hasOutput = false;

  constructor(sink: LogSink, limitBytes = Infinity) {
    this.#sink = sink;
    this.#remaining = limitBytes;
    const stdout = new Batch((bytes) => {
      sink.write('stdout', bytes);
    });
    const stderr = new Batch((bytes) => {
      sink.write('stderr', bytes);
    });
    this.#batches = {stdout, stderr: sink.together === true ? stdout : stderr};
  }

  /** True if the limit is reached. */
  get full(): boolean {
    return this.#remaining <= 0;
  }

  /** Returns the output state of a stream. */
  outputFor(stream: LogStream): OutputState {
    return this.#batches[stream];
  }

  /** Copies bytes within the limit. */
  put(stream: LogStream, bytes: Buffer, from = 0, to = bytes.length): void {
    const end = Math.min(to, from + this.#remaining);
    this.#remaining -= end - from;
    this.#hasOutput = true;
    this.#batches[stream].put(bytes, from, end);
  }

  /** Writes the time of a line with nine digits of the fraction, and a space. */
  putTime(line: LineView): void {
    this.put(line.stream, TIME, 0, writeTime(line));
  }

  /** Writes the content of a line. */
  putContent(line: LineView): void {
    this.put(line.stream, line.bytes, line.from, line.to);
  }

  /** Passes the collected output on and waits until the sink accepts more. */
  async flush(): Promise<void> {
    if (!this.#hasOutput) return;
    this.#hasOutput = false;
    const {stdout, stderr} = this.#batches;
    stdout.flush();
    if (stderr.hasOutput) {
      // As in crictl, which writes line by line, stderr must not get ahead of stdout when the reader of stdout has
      // closed it.
      await this.#sink.stdoutTaken?.();
      stderr.flush();
    }
    await this.#sink.ready();
  }
}

/** State of a stream's output; both streams may share one. */
interface OutputState {
  readonly atLineStart: boolean;
  /** Formatter that wrote last. */
  lastWriter: object | undefined;
}

class Batch implements OutputState {
  atLineStart = true;
  lastWriter: object | undefined;
  readonly #write: (bytes: Uint8Array) => void;
  /** Full buffers that wait for a flush. */
  readonly #full: Uint8Array[] = [];
  #bytes = Buffer.allocUnsafeSlow(BATCH_BYTES);
  #start = 0;
  #end = 0;

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  put(bytes: Buffer, from: number, to: number): void {
    if (to === from) return;
    if (to - from > this.#bytes.length - this.#end) this.#startNewBuffer(to - from);
    const target = this.#bytes;
    let at = this.#end;
    if (to - from < SHORT) for (let index = from; index < to; index += 1) target[at++] = bytes[index] ?? 0;
    else at += bytes.copy(target, at, from, to);
    this.#end = at;
    this.atLineStart = bytes[to - 1] === NEWLINE;
  }

  /** Starts a new buffer: chunks that were passed on may still be read and are never overwritten. */
  #startNewBuffer(length: number): void {
    if (this.#end > this.#start) this.#full.push(this.#bytes.subarray(this.#start, this.#end));
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(BATCH_BYTES, length));
    this.#start = 0;
    this.#end = 0;
  }

  get hasOutput(): boolean {
    return this.#full.length > 0 || this.#end > this.#start;
  }

  flush(): void {
    for (const bytes of this.#full.splice(0)) this.#write(bytes);
    if (this.#end > this.#start) this.#write(this.#bytes.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

const TIME = Buffer.allocUnsafe(SECONDS_LENGTH + FRACTION + '+00:00 '.length);

/** Returns the time of a line with nine digits of the fraction, and a space. */
export function formatLineTime(line: LineView): Buffer {
  return Buffer.from(TIME.subarray(0, writeTime(line)));
}

/** Writes the time of a line to TIME and returns its length. Called for each line, so it only uses loops. */
function writeTime({timeBytes, timeFrom, timeTo, nanos}: LineView): number {
  for (let at = 0; at < SECONDS_LENGTH; at += 1) TIME[at] = timeBytes[timeFrom + at] ?? 0;
  TIME[SECONDS_LENGTH] = DOT;
  for (let at = SECONDS_LENGTH + FRACTION - 1, remaining = nanos; at > SECONDS_LENGTH; at -= 1) {
    const tens = (remaining / 10) | 0;
    TIME[at] = ZERO + remaining - tens * 10;
    remaining = tens;
  }
  let end = SECONDS_LENGTH + FRACTION;
  if (isUtc(timeBytes, timeTo)) TIME[end++] = LETTER_Z;
  else for (let at = timeTo - '+00:00'.length; at < timeTo; at += 1) TIME[end++] = timeBytes[at] ?? 0;
  TIME[end] = SPACE;
  return end + 1;
}

/** Reports whether a time that ends at `end` is in UTC: `Z` or `+00:00`. */
function isUtc(bytes: Buffer, end: number): boolean {
  if (bytes[end - 1] === LETTER_Z) return true;
  return [5, 4, 2, 1].every((offset) => bytes[end - offset] === ZERO);
}

/** The end of a line. */
export const LINE_END = Buffer.allocUnsafe(1);
LINE_END[0] = NEWLINE;
