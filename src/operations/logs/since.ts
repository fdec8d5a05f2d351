import {UsageError} from '../../base/errors.js';
import {parseDuration} from '../../format/duration.js';

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2})(?::(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * The moment that `--since` names, in nanoseconds since the epoch: a duration before now, a date or time (in
 * the local zone unless it says another), or Unix seconds. Throws UsageError.
 */
export function parseSince(text: string, nowMs: number): bigint {
  const ago = parseDuration(text);
  if (ago !== undefined && text !== '0') return BigInt(Math.trunc(nowMs)) * 1_000_000n - ago;
  const [, seconds, fraction = ''] = /^(\d+)(?:\.(\d{1,9}))?$/.exec(text) ?? [];
  if (seconds !== undefined) return BigInt(seconds) * 1_000_000_000n + fractionNanos(fraction);
  const moment = parseDateTime(text);
  if (moment !== undefined) return moment;
  throw new UsageError(`"${text}" is no time to show logs since`, {
    hint: 'write a duration such as 10m, a time such as 2026-11-20T14:00:00Z, or Unix seconds',
  });
}

/** RFC 3339, also with less than seconds or without a zone. Undefined for anything else. */
export function parseDateTime(text: string): bigint | undefined {
  const [, date, hours = '00', minutes = '00', seconds = '00', fraction = '', zone = ''] =
    DATE_TIME.exec(text) ?? [];
  if (date === undefined) return undefined;
  const ms = Date.parse(`${date}T${hours}:${minutes}:${seconds}${zone}`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + fractionNanos(fraction);
}

function fractionNanos(fraction: string): bigint {
  return BigInt(fraction.padEnd(9, '0'));
}
