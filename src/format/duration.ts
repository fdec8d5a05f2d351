const UNIT_NANOS = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
} as const satisfies Record<string, bigint>;

const UNIT = Object.keys(UNIT_NANOS).join('|');
const DURATION = new RegExp(`^([+-]?)((?:(?:\\d+\\.?\\d*|\\.\\d+)(?:${UNIT}))+)$`);
const PART = new RegExp(`(\\d*)\\.?(\\d*)(${UNIT})`, 'g');

/**
 * Parses a duration to nanoseconds like Go's time.ParseDuration: `1h15m30.5s`, `-1.5h`, `0`. Returns undefined for any
 * other text, and beyond 64 bits.
 */
export function parseDuration(text: string): bigint | undefined {
  if (/^[+-]?0$/.test(text)) return 0n;
  const [, sign, body] = DURATION.exec(text) ?? [];
  if (body === undefined) return undefined;
  const nanos = Array.from(body.matchAll(PART), partNanos).reduce((sum, part) => sum + part, 0n);
  const signed = sign === '-' ? -nanos : nanos;
  return BigInt.asIntN(64, signed) === signed ? signed : undefined;
}

/** Returns the message of Go's time.ParseDuration for a text that parseDuration does not accept. */
export function durationFault(text: string): string {
  const invalid = `time: invalid duration ${quoteBytes(text)}`;
  for (let rest = text.replace(/^[+-]/, ''); rest !== '';) {
    const [number = '', whole = ''] = /^(\d*)(?:\.\d*)?/.exec(rest) ?? [];
    const [unit = ''] = /^[^.\d]*/.exec(rest.slice(number.length)) ?? [];
    if (!/\d/.test(number) || BigInt(whole) > 2n ** 63n) return invalid;
    if (unit === '') return `time: missing unit in duration ${quoteBytes(text)}`;
    if (!Object.hasOwn(UNIT_NANOS, unit))
      return `time: unknown unit ${quoteBytes(unit)} in duration ${quoteBytes(text)}`;
    rest = rest.slice(number.length + unit.length);
  }
  return invalid;
}

/** Quotes a text as the errors of Go's package time do: bytes that are not printable ASCII in hexadecimal. */
function quoteBytes(text: string): string {
  const escaped = text.replace(/["\\]|[^ -\x7f]/gu, (character) =>
    /["\\]/.test(character)
      ? `\\${character}`
      : [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  );
  return `"${escaped}"`;
}

function partNanos([, whole = '', fraction = '', unit = '']: RegExpExecArray): bigint {
  const nanos = UNIT_NANOS[unit as keyof typeof UNIT_NANOS];
  return BigInt(whole) * nanos + (BigInt(fraction) * nanos) / 10n ** BigInt(fraction.length);
}

/** Formats a duration in nanoseconds like Go's Duration.String: `1h15m30.5s`, `1.5ms`, `0s`. */
export function formatDuration(nanos: bigint): string {
  if (nanos < 0n) return `-${formatDuration(-nanos)}`;
  if (nanos === 0n) return '0s';
  const small = (['ns', 'µs', 'ms'] as const).find((unit) => nanos < 1000n * UNIT_NANOS[unit]);
  if (small !== undefined) return `${decimal(nanos, UNIT_NANOS[small])}${small}`;
  const hours = nanos / UNIT_NANOS.h;
  const minutes = (nanos % UNIT_NANOS.h) / UNIT_NANOS.m;
  const seconds = `${decimal(nanos % UNIT_NANOS.m, UNIT_NANOS.s)}s`;
  if (hours > 0n) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0n ? `${minutes}m${seconds}` : seconds;
}

/** Formats seconds like formatDuration: `1s`, `1m5s`. */
export function formatGoSeconds(seconds: number): string {
  return formatDuration(BigInt(seconds) * UNIT_NANOS.s);
}

/** Formats a duration in milliseconds, truncated to integers, like formatDuration. */
export function formatMilliseconds(ms: number): string {
  return formatDuration(BigInt(Math.round(ms)) * 1_000_000n);
}

function decimal(nanos: bigint, unit: bigint): string {
  const digits = String(unit).length - 1;
  const fraction = String(nanos % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return fraction === '' || digits === 0 ? String(nanos / unit) : `${nanos / unit}.${fraction}`;
}

const HOUR_MS = 3_600_000;

/** Formats a duration like go-units' HumanDuration: `Less than a second`, `About a minute`, `3 weeks`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < 1) return 'Less than a second';
  if (seconds === 1) return '1 second';
  if (seconds < 60) return `${seconds} seconds`;
  const minutes = Math.trunc(ms / 60_000);
  if (minutes === 1) return 'About a minute';
  if (minutes < 60) return `${minutes} minutes`;
  return humanHours(ms);
}

function humanHours(ms: number): string {
  const hours = Math.trunc(ms / HOUR_MS + 0.5);
  if (hours === 1) return 'About an hour';
  if (hours < 48) return `${hours} hours`;
  if (hours < 24 * 14) return `${Math.trunc(hours / 24)} days`;
  if (hours < 24 * 60) return `${Math.trunc(hours / 24 / 7)} weeks`;
  if (hours < 24 * 365 * 2) return `${Math.trunc(hours / 24 / 30)} months`;
  return `${Math.trunc(ms / HOUR_MS / 24 / 365)} years`;
}

/** Formats the time since a creation time: `About an hour ago`. */
export function humanAgo(createdAtNanos: bigint, nowMs: number): string {
  // Rounded to microseconds, the precision of a number of that size.
  const createdAtMs = Math.round(Number(createdAtNanos) / 1000) / 1000;
  return `${humanDuration(nowMs - createdAtMs)} ago`;
}

/** Formats a duration as `412ms` or `3.1s`; empty if undefined. */
export function formatElapsed(ms: number | undefined): string {
  if (ms === undefined) return '';
  return ms < 1000 ? `${Math.round(ms)}ms` : `${(ms / 1000).toFixed(1)}s`;
}
