import {parseDateTime} from './since.js';
import type {LogLine, LogStream} from '../../cri/index.js';

/** Where log output goes. */
export interface LogSink {
  write(stream: LogStream, bytes: Uint8Array): void;
  /** Resolves when the sink takes more. */
  ready(): Promise<void>;
}

/** What is written of a log. */
export interface LogSelection {
  readonly streams: ReadonlySet<LogStream>;
  /** Only lines of this moment and later, in nanoseconds since the epoch. */
  readonly since?: bigint | undefined;
  /** Put each line's time in front. */
  readonly timestamps?: boolean | undefined;
  /** Stop after so many bytes. */
  readonly limitBytes?: number | undefined;
}

/** Writes the wanted lines to the sink; lines that came in parts are joined per stream. */
export class LogWriter {
  readonly #sink: LogSink;
  readonly #selection: LogSelection;
  readonly #inLine: Record<LogStream, boolean> = {stdout: false, stderr: false};
  #remaining: number;
  #pending: Uint8Array[] = [];
  #pendingStream: LogStream = 'stdout';

  constructor(sink: LogSink, selection: LogSelection) {
    this.#sink = sink;
    this.#selection = selection;
    this.#remaining = selection.limitBytes ?? Infinity;
  }

  /** True when the limit is reached. */
  get full(): boolean {
    return this.#remaining <= 0;
  }

  /** Takes a line; `flush` must be called before its bytes are reused. */
  add(line: LogLine): void {
    const {stream, partial, content, time} = line;
    if (!this.#selection.streams.has(stream) || this.#isTooOld(time)) return;
    if (stream !== this.#pendingStream) this.flush();
    this.#pendingStream = stream;
    if (this.#selection.timestamps === true && !this.#inLine[stream]) this.#push(stamp(time));
    this.#push(content);
    this.#inLine[stream] = partial;
  }

  #push(bytes: Uint8Array): void {
    const kept = bytes.length > this.#remaining ? bytes.subarray(0, this.#remaining) : bytes;
    this.#remaining -= kept.length;
    this.#pending.push(kept);
  }

  #isTooOld(time: Uint8Array): boolean {
    const {since} = this.#selection;
    if (since === undefined) return false;
    const moment = parseDateTime(Buffer.from(time).toString('latin1'));
    return moment !== undefined && moment < since;
  }

  /** Hands over what has been taken. */
  flush(): void {
    if (this.#pending.length === 0) return;
    this.#sink.write(this.#pendingStream, Buffer.concat(this.#pending));
    this.#pending = [];
  }
}

const TIME = /^(.*:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)$/;

/** The time with all nine digits of the fraction, so that lines align, and a blank. */
function stamp(time: Uint8Array): Uint8Array {
  const text = Buffer.from(time).toString('latin1');
  const [, seconds, fraction = '', zone = ''] = TIME.exec(text) ?? [];
  return Buffer.from(`${seconds === undefined ? text : `${seconds}.${fraction.padEnd(9, '0')}${zone}`} `);
}
