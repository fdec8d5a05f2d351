import {UsageError} from '../../base/errors.js';
import {parseDuration} from '../../format/duration.js';
import {goQuote} from '../../format/go-quote.js';
import {logTime, type LogTime} from './log-selection.js';

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d+))?)?)?)?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * Returns the time in nanoseconds since the epoch that a flag such as `--since` specifies: a duration before now, a
 * date or time (in the local zone unless it has one), or Unix seconds. Throws UsageError.
 */
export function parseSince(text: string, nowMs: number, flag = 'since'): bigint {
  const nanos = durationAgo(text, nowMs) ?? parseUnix(text) ?? parseDateTime(text);
  if (nanos !== undefined) return nanos;
  throw new UsageError(`invalid --${flag} "${text}"`, {
    hint: 'use a duration such as 10m, a time such as 2026-11-20T14:00:00Z, or Unix seconds',
  });
}

/**
 * Returns the time of crictl's `--since`, undefined for none. Durations are truncated to seconds. Throws UsageError.
 */
export function parseSinceAsCrictl(text: string, nowMs: number): LogTime | undefined {
  if (text === '') return undefined;
  const ago = durationAgo(text, nowMs);
  if (ago !== undefined) return {...logTime(ago), nanos: 0};
  const nanos = parseDateTime(text) ?? parseUnix(text);
  if (nanos !== undefined) return logTime(nanos);
  throw new UsageError(
    text.includes('-') ? goTimeError(text) : `failed to parse value as time or duration: ${goQuote(text)}`,
  );
}

function durationAgo(text: string, nowMs: number): bigint | undefined {
  const ago = text === '0' ? undefined : parseDuration(text);
  return ago === undefined ? undefined : BigInt(Math.trunc(nowMs)) * 1_000_000n - ago;
}

function parseUnix(text: string): bigint | undefined {
  const [, seconds, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  return seconds === undefined ? undefined : BigInt(seconds) * 1_000_000_000n + fractionNanos(fraction);
}

/** Returns the error of Go's time package for an invalid time. */
function goTimeError(text: string): string {
  const local = !/[zZ+]/.test(text) && text.split('-').length !== 4;
  const elements = layoutOf(text, local);
  let remaining = text;
  const outOfRange: string[] = [];
  for (const [element, pattern, range] of elements) {
    const [match] = pattern.exec(remaining) ?? [];
    if (match === undefined) {
      const layout = elements.map(([part]) => part).join('');
      return `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(remaining)} as ${goQuote(element)}`;
    }
    if (range !== undefined && !isWithin(Number(match), range)) outOfRange.push(`${range.name} out of range`);
    remaining = remaining.slice(match.length);
  }
  const fault =
    outOfRange[0] ?? (remaining === '' ? 'day out of range' : `extra text: ${goQuote(remaining)}`);
  return `parsing time ${goQuote(text)}: ${fault}`;
}

interface Range {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

const isWithin = (value: number, {min, max}: Range): boolean => value >= min && value <= max;

type LayoutElement = readonly [element: string, pattern: RegExp, range?: Range];

const TWO_DIGITS = /^\d\d/;
const DATE: readonly LayoutElement[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', TWO_DIGITS, {name: 'month', min: 1, max: 12}],
  ['-', /^-/],
  ['02', TWO_DIGITS, {name: 'day', min: 1, max: 31}],
];
const HOUR: readonly LayoutElement[] = [
  ['T', /^T/],
  ['15', /^\d\d?/, {name: 'hour', min: 0, max: 23}],
];
const MINUTE: readonly LayoutElement[] = [
  [':', /^:/],
  ['04', TWO_DIGITS, {name: 'minute', min: 0, max: 59}],
];
const SECOND: readonly LayoutElement[] = [
  [':', /^:/],
  ['05', TWO_DIGITS, {name: 'second', min: 0, max: 59}],
];
const FRACTION: LayoutElement = ['.999999999', /^(?:\.\d+)?/];
const ZONE: LayoutElement = ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/];

/** Returns the layout by which Go reads a text, depending on its separators. */
function layoutOf(text: string, local: boolean): readonly LayoutElement[] {
  const zone = local ? [] : [ZONE];
  if (text.includes('.')) return [...DATE, ...HOUR, ...MINUTE, ...SECOND, FRACTION, ...zone];
  if (!text.includes('T')) return [...DATE, ...zone];
  const colons = text.split(':').length - 1 - (!local && !/[zZ]/.test(text) && text.includes(':') ? 1 : 0);
  const time = [...HOUR, ...(colons > 0 ? MINUTE : []), ...(colons > 1 ? SECOND : [])];
  return [...DATE, ...time, ...zone];
}

/** Parses RFC 3339 times, also without seconds, minutes, time or zone. Returns undefined for anything else. */
function parseDateTime(text: string): bigint | undefined {
  const [, date, hours = '00', minutes = '00', seconds = '00', fraction = '', zone = ''] =
    DATE_TIME.exec(text) ?? [];
  if (date === undefined || !isDay(date)) return undefined;
  const ms = Date.parse(`${date}T${hours}:${minutes}:${seconds}${zone}`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + fractionNanos(fraction);
}

/** Reports whether a date exists: JavaScript reads 30 February as a day in March. */
function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

function fractionNanos(fraction: string): bigint {
  return BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}
