import type {JsonObject} from '../../format/json.js';

/** Times of a recorded call, in ms since the epoch, with microseconds. */
export interface RecordedTimes {
  readonly startMs: number;
  /** Absent if the call had not ended when the recording did. */
  readonly endMs: number | undefined;
}

/** Latest time with a year of four digits, which RFC 3339 can express. */
const LATEST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
/** A time as a recorder writes it. */
const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/;

/** Returns the times of a line; undefined if no recorder writes such ones. */
export function timesOf({time, durationMs}: JsonObject): RecordedTimes | undefined {
  const startMs = parseTime(time);
  if (startMs === undefined || durationMs === undefined)
    return startMs === undefined ? undefined : {startMs, endMs: undefined};
  if (typeof durationMs !== 'number' || durationMs < 0 || !isTime(startMs + durationMs)) return undefined;
  return {startMs, endMs: startMs + durationMs};
}

/** Returns ms since the epoch of a time in ns, as messages of the CRI have it; undefined for none, and for an impossible one. */
export function fromNanoseconds(value: unknown): number | undefined {
  const ms = typeof value === 'string' && /^\d{1,19}$/.test(value) ? Number(value) / 1e6 : 0;
  return ms > 0 && isTime(ms) ? ms : undefined;
}

function parseTime(value: unknown): number | undefined {
  const [, seconds, fraction = ''] = typeof value === 'string' ? (TIME.exec(value) ?? []) : [];
  const ms = Date.parse(`${seconds ?? ''}Z`) + Number(`0${fraction}`) * 1000;
  return isTime(ms) ? ms : undefined;
}

/** Reports whether a number is a time; NaN is none. */
function isTime(ms: number): boolean {
  return ms <= LATEST_MS;
}
