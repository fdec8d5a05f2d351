import {localOffsetMinutes} from '../base/time-zone.js';

const NANOS_PER_SECOND = 1_000_000_000n;
/** Go's zero time, which crictl shows for events that have not happened. */
export const ZERO_TIME = '0001-01-01T00:00:00Z';

interface LocalTime {
  readonly date: string;
  readonly time: string;
  /** Returns the offset, such as `+0200`, with the separator between hours and minutes. */
  offset(separator: string): string;
  /** Returns the abbreviation of the zone or its offset. Evaluated lazily, since it loads V8's zone data. */
  zone(): string;
}

/**
 * Formats nanoseconds since the epoch like Go's RFC3339Nano in the local time zone: `2026-11-20T15:04:05.5+01:00`.
 */
export function formatRfc3339Nano(nanos: bigint): string {
  const local = localTime(nanos);
  const offset = local.offset(':');
  return `${local.date}T${local.time}${offset === '+00:00' ? 'Z' : offset}`;
}

/**
 * Formats a time, in ms since the epoch, as RFC 3339 in UTC and whole seconds: `2026-11-20T15:04:05Z` (metav1.Time).
 */
export function formatRfc3339Seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Formats nanoseconds since the epoch like Go's default time format: `2026-11-20 15:04:05.5 +0100 CET`. */
export function formatGoTime(nanos: bigint): string {
  const local = localTime(nanos);
  return `${local.date} ${local.time} ${local.offset('')} ${local.zone()}`;
}

function localTime(nanos: bigint): LocalTime {
  const date = new Date(Number(floorDivide(nanos, NANOS_PER_SECOND)) * 1000);
  const minutes = localOffsetMinutes(date);
  const shifted = new Date(date.getTime() + minutes * 60_000).toISOString();
  const fraction = String(((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND)
    .padStart(9, '0')
    .replace(/0+$/, '');
  const offset = (separator: string): string =>
    `${minutes < 0 ? '-' : '+'}${two(Math.abs(minutes) / 60)}${separator}${two(Math.abs(minutes) % 60)}`;
  return {
    date: shifted.slice(0, 10),
    time: fraction === '' ? shifted.slice(11, 19) : `${shifted.slice(11, 19)}.${fraction}`,
    offset,
    zone: () => zoneName(date) ?? offset(''),
  };
}

function two(value: number): string {
  return String(Math.trunc(value)).padStart(2, '0');
}

function floorDivide(value: bigint, divisor: bigint): bigint {
  return (value - (((value % divisor) + divisor) % divisor)) / divisor;
}

/** Returns the abbreviation of the zone if JavaScript knows one; Go uses the offset otherwise. */
function zoneName(date: Date): string | undefined {
  const parts = new Intl.DateTimeFormat('en-US', {timeZoneName: 'short'}).formatToParts(date);
  const name = parts.find(({type}) => type === 'timeZoneName')?.value;
  return name !== undefined && /^[A-Z]+$/.test(name) ? name : undefined;
}
