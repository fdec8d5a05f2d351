import type {LineView, LogStream} from '../../cri/index.js';

/** A moment in whole seconds since the epoch, and the nanoseconds beyond them. */
export interface LogTime {
  readonly seconds: number;
  readonly nanos: number;
}

/** Which lines of a log are wanted. */
export interface LogSelection {
  readonly streams: ReadonlySet<LogStream>;
  /** Only lines of this moment and later. */
  readonly since?: LogTime | undefined;
  /** Only lines of this moment and earlier. */
  readonly until?: LogTime | undefined;
}

/** How far the times of neighbouring lines may be in disorder: both streams are written at once. */
const DISORDER_SECONDS = 1;

/** A moment in nanoseconds since the epoch as its two parts. */
export function logTime(nanos: bigint): LogTime {
  const seconds = BigInt.asIntN(64, nanos) / 1_000_000_000n - (nanos % 1_000_000_000n < 0n ? 1n : 0n);
  return {seconds: Number(seconds), nanos: Number(nanos - seconds * 1_000_000_000n)};
}

/** Negative when `a` is earlier than `b`, positive when it is later. */
export function compareTimes(a: LogTime, b: LogTime): number {
  return a.seconds - b.seconds || a.nanos - b.nanos;
}

/** Whether the line by itself is wanted. */
export function isSelected(line: LineView, {streams, since, until}: LogSelection): boolean {
  return (
    streams.has(line.stream) &&
    (since === undefined || compareTimes(line, since) >= 0) &&
    (until === undefined || compareTimes(line, until) <= 0)
  );
}

/** The moment before which no line of this one's time stands, however disordered they are. */
export function surelyBefore({seconds, nanos}: LogTime): LogTime {
  return {seconds: seconds - DISORDER_SECONDS, nanos};
}

/** The moment from which on all lines are later than this one, however disordered they are. */
export function surelyAfter({seconds, nanos}: LogTime): LogTime {
  return {seconds: seconds + DISORDER_SECONDS, nanos};
}

/** True when all that follows a line of this time is later than the moment. */
export function isSurelyPast(time: LogTime, moment: LogTime | undefined): boolean {
  return moment !== undefined && compareTimes(time, surelyAfter(moment)) > 0;
}
