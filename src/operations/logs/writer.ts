import type {LineView, LogStream} from '../../cri/index.js';

/** Where log output goes. */
export interface LogSink {
  /** Takes bytes, which are not changed any more. */
  write(stream: LogStream, bytes: Uint8Array): void;
  /** Resolves when the sink takes more. */
  ready(): Promise<void>;
  /** Both streams end in the same place, such as a terminal, so that their order matters. Default false. */
  readonly together?: boolean;
}

const BATCH = 256 * 1024;
/** Below it a loop copies faster than a call. */
const SHORT = 48;
/** `.` and nine digits behind the seconds. */
const FRACTION = 10;
const SECONDS_LENGTH = '2006-01-02T15:04:05'.length;
const [SPACE, NEWLINE, DOT, ZERO, LETTER_Z] = [0x20, 0x0a, 0x2e, 0x30, 0x5a];

/** Gathers what is written into large pieces, and counts it. */
export class LogWriter {
  readonly #sink: LogSink;
  readonly #batches: Readonly<Record<LogStream, Batch>>;
  #remaining: number;
  #hasNews = false;

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

  /** True when the limit is reached. */
  get full(): boolean {
    return this.#remaining <= 0;
  }

  /** Where the stream goes to. */
  place(stream: LogStream): Place {
    return this.#batches[stream];
  }

  /** Copies bytes, as far as the limit allows. */
  put(stream: LogStream, bytes: Buffer, from = 0, to = bytes.length): void {
    const end = Math.min(to, from + this.#remaining);
    this.#remaining -= end - from;
    this.#hasNews = true;
    this.#batches[stream].put(bytes, from, end);
  }

  /** Writes the line's time with all nine digits of the fraction, and a blank. */
  putTime(line: LineView): void {
    this.put(line.stream, TIME, 0, writeTime(line));
  }

  /** Copies what the container wrote in a line. */
  putContent(line: LineView): void {
    this.put(line.stream, line.bytes, line.from, line.to);
  }

  /** Hands over what has been taken, and waits until the sink takes more. */
  async flush(): Promise<void> {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    this.#batches.stdout.flush();
    this.#batches.stderr.flush();
    await this.#sink.ready();
  }
}

/** Where a stream goes to; two may share one. */
interface Place {
  readonly atLineStart: boolean;
  /** What wrote there last, for whoever wants to know. */
  lastBy: object | undefined;
}

class Batch implements Place {
  atLineStart = true;
  lastBy: object | undefined;
  readonly #write: (bytes: Uint8Array) => void;
  #bytes = Buffer.allocUnsafeSlow(BATCH);
  #start = 0;
  #end = 0;

  constructor(write: (bytes: Uint8Array) => void) {
    this.#write = write;
  }

  put(bytes: Buffer, from: number, to: number): void {
    if (to === from) return;
    if (to - from > this.#bytes.length - this.#end) this.#renew(to - from);
    const target = this.#bytes;
    let at = this.#end;
    if (to - from < SHORT) for (let index = from; index < to; index += 1) target[at++] = bytes[index] ?? 0;
    else at += bytes.copy(target, at, from, to);
    this.#end = at;
    this.atLineStart = bytes[to - 1] === NEWLINE;
  }

  /** What was handed over may still be read: it is never written over. */
  #renew(length: number): void {
    this.flush();
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(BATCH, length));
    this.#start = 0;
    this.#end = 0;
  }

  flush(): void {
    if (this.#end > this.#start) this.#write(this.#bytes.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

const TIME = Buffer.alloc(SECONDS_LENGTH + FRACTION + '+00:00 '.length);

/** The line's time with all nine digits of the fraction, and a blank. */
export function timeText(line: LineView): Buffer {
  return Buffer.from(TIME.subarray(0, writeTime(line)));
}

/** Writes that to TIME, and gives its length. Made for each line, it calls nothing that takes longer than a loop. */
function writeTime({timeBytes, timeFrom, timeTo, nanos}: LineView): number {
  for (let at = 0; at < SECONDS_LENGTH; at += 1) TIME[at] = timeBytes[timeFrom + at] ?? 0;
  TIME[SECONDS_LENGTH] = DOT;
  for (let at = SECONDS_LENGTH + FRACTION - 1, rest = nanos; at > SECONDS_LENGTH; at -= 1) {
    const tens = (rest / 10) | 0;
    TIME[at] = ZERO + rest - tens * 10;
    rest = tens;
  }
  let end = SECONDS_LENGTH + FRACTION;
  if (isUtc(timeBytes, timeTo)) TIME[end++] = LETTER_Z;
  else for (let at = timeTo - '+00:00'.length; at < timeTo; at += 1) TIME[end++] = timeBytes[at] ?? 0;
  TIME[end] = SPACE;
  return end + 1;
}

/** Whether a time that ends there is in UTC: `Z` or `+00:00`. */
function isUtc(bytes: Buffer, end: number): boolean {
  if (bytes[end - 1] === LETTER_Z) return true;
  return [5, 4, 2, 1].every((back) => bytes[end - back] === ZERO);
}

/** The end of a line. */
export const LINE_END = Buffer.of(NEWLINE);
