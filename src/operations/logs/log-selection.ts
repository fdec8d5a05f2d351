import type {LineView, LogStream} from '../../cri/index.js';

/** A time in whole seconds since the epoch, and the remaining nanoseconds. */
export interface LogTime {
  readonly seconds: number;
  readonly nanos: number;
}

/** Conditions for the lines of a log. */
export interface LogSelection {
  readonly streams: ReadonlySet<LogStream>;
  /** Selects lines of this time and later. */
  readonly since?: LogTime | undefined;
  /** Selects lines of this time and earlier. */
  readonly until?: LogTime | undefined;
}

/** Maximum deviation from the order of times, in seconds, since both streams are written concurrently. */
const DISORDER_SECONDS = 1;

/** Converts nanoseconds since the epoch. */
export function logTime(nanos: bigint): LogTime {
  const seconds = BigInt.asIntN(64, nanos) / 1_000_000_000n - (nanos % 1_000_000_000n < 0n ? 1n : 0n);
  return {seconds: Number(seconds), nanos: Number(nanos - seconds * 1_000_000_000n)};
}

/** Compares two times: negative if `a` is earlier than `b`, positive if it is later. */
export function compareTimes(a: LogTime, b: LogTime): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}

/** Reports whether a line matches the selection. */
export function isSelected(line: LineView, {streams, since, until}: LogSelection): boolean {
  return (
    streams.has(line.stream) &&
    (since === undefined || compareTimes(line, since) >= 0) &&
    (until === undefined || compareTimes(line, until) <= 0)
  );
}

/** Returns a time such that no line before a line of that time is as late as the given one. */
export function lowerTimeBound({seconds, nanos}: LogTime): LogTime {
  return {seconds: seconds - DISORDER_SECONDS, nanos};
}

/** Returns a time such that all lines after a line of that time are later than the given one. */
export function upperTimeBound({seconds, nanos}: LogTime): LogTime {
  return {seconds: seconds + DISORDER_SECONDS, nanos};
}

/** Reports whether all lines after a line of `time` are later than `moment`. */
export function isPastTimeBound(time: LogTime, moment: LogTime | undefined): boolean {
  return moment !== undefined && compareTimes(time, upperTimeBound(moment)) > 0;
}
