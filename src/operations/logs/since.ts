import {UsageError} from '../../base/errors.js';
import {parseDuration} from '../../format/duration.js';
import {goQuote} from '../../format/go-quote.js';
import {logTime, type LogTime} from './selection.js';

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * The moment that a flag such as `--since` names, in nanoseconds since the epoch: a duration before now, a date or
 * time (in the local zone unless it says another), or Unix seconds. Throws UsageError.
 */
export function parseSince(text: string, nowMs: number, flag = 'since'): bigint {
  const nanos = durationAgo(text, nowMs) ?? parseUnix(text) ?? parseDateTime(text);
  if (nanos !== undefined) return nanos;
  throw new UsageError(`"${text}" is no time for --${flag}`, {
    hint: 'write a duration such as 10m, a time such as 2026-11-20T14:00:00Z, or Unix seconds',
  });
}

/** The moment of crictl's `--since`, undefined for none; a duration counts in whole seconds. Throws UsageError. */
export function parseSinceAsCrictl(text: string, nowMs: number): LogTime | undefined {
  if (text === '') return undefined;
  const ago = durationAgo(text, nowMs);
  if (ago !== undefined) return {...logTime(ago), nanos: 0};
  const nanos = parseDateTime(text) ?? parseUnix(text);
  if (nanos !== undefined) return logTime(nanos);
  throw new UsageError(
    text.includes('-') ? goTimeFault(text) : `failed to parse value as time or duration: ${goQuote(text)}`,
  );
}

function durationAgo(text: string, nowMs: number): bigint | undefined {
  const ago = text === '0' ? undefined : parseDuration(text);
  return ago === undefined ? undefined : BigInt(Math.trunc(nowMs)) * 1_000_000n - ago;
}

function parseUnix(text: string): bigint | undefined {
  const [, seconds, fraction = ''] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  return seconds === undefined ? undefined : BigInt(seconds) * 1_000_000_000n + fractionNanos(fraction);
}

/** What Go's time package says to a text that is no time of its layout. */
function goTimeFault(text: string): string {
  const local = !/[zZ+]/.test(text) && text.split('-').length !== 4;
  const elements = layoutOf(text, local);
  let rest = text;
  const outOfRange: string[] = [];
  for (const [element, pattern, range] of elements) {
    const [match] = pattern.exec(rest) ?? [];
    if (match === undefined) {
      const layout = elements.map(([part]) => part).join('');
      return `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(rest)} as ${goQuote(element)}`;
    }
    if (range !== undefined && !isWithin(Number(match), range)) outOfRange.push(`${range.name} out of range`);
    rest = rest.slice(match.length);
  }
  const fault = outOfRange[0] ?? (rest === '' ? 'day out of range' : `extra text: ${goQuote(rest)}`);
  return `parsing time ${goQuote(text)}: ${fault}`;
}

interface Range {
  readonly name: string;
  readonly least: number;
  readonly most: number;
}

const isWithin = (value: number, {least, most}: Range): boolean => value >= least && value <= most;

type LayoutElement = readonly [element: string, pattern: RegExp, range?: Range];

const TWO_DIGITS = /^\d\d/;
const DATE: readonly LayoutElement[] = [
  ['2006', /^\d{4}/],
  ['-', /^-/],
  ['01', TWO_DIGITS, {name: 'month', least: 1, most: 12}],
  ['-', /^-/],
  ['02', TWO_DIGITS, {name: 'day', least: 1, most: 31}],
];
const HOUR: readonly LayoutElement[] = [
  ['T', /^T/],
  ['15', /^\d\d?/, {name: 'hour', least: 0, most: 23}],
];
const MINUTE: readonly LayoutElement[] = [
  [':', /^:/],
  ['04', TWO_DIGITS, {name: 'minute', least: 0, most: 59}],
];
const SECOND: readonly LayoutElement[] = [
  [':', /^:/],
  ['05', TWO_DIGITS, {name: 'second', least: 0, most: 59}],
];
const FRACTION: LayoutElement = ['.999999999', /^(?:\.\d+)?/];
const ZONE: LayoutElement = ['Z07:00', /^(?:Z|[+-]\d\d:\d\d)/];

/** The layout that a text is read by, chosen by the marks that it has. */
function layoutOf(text: string, local: boolean): readonly LayoutElement[] {
  const zone = local ? [] : [ZONE];
  if (text.includes('.')) return [...DATE, ...HOUR, ...MINUTE, ...SECOND, FRACTION, ...zone];
  if (!text.includes('T')) return [...DATE, ...zone];
  const colons = text.split(':').length - 1 - (!local && !/[zZ]/.test(text) && text.includes(':') ? 1 : 0);
  const time = [...HOUR, ...(colons > 0 ? MINUTE : []), ...(colons > 1 ? SECOND : [])];
  return [...DATE, ...time, ...zone];
}

/** RFC 3339, also with less than seconds or without a zone. Undefined for anything else. */
function parseDateTime(text: string): bigint | undefined {
  const [, date, hours = '00', minutes = '00', seconds = '00', fraction = '', zone = ''] =
    DATE_TIME.exec(text) ?? [];
  if (date === undefined || !isDay(date)) return undefined;
  const ms = Date.parse(`${date}T${hours}:${minutes}:${seconds}${zone}`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + fractionNanos(fraction);
}

/** JavaScript takes the 30th of February for a day of March. */
function isDay(date: string): boolean {
  const day = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date);
}

function fractionNanos(fraction: string): bigint {
  return BigInt(fraction.padEnd(9, '0'));
}
