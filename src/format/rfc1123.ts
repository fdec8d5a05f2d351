import {localOffsetMinutes} from '../base/time-zone.js';

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Go's RFC1123Z format of the zero time. */
const ZERO = 'Mon, 01 Jan 0001 00:00:00 +0000';

/** Formats an API time like Go's RFC1123Z in the local time zone: `Fri, 20 Nov 2026 15:04:05 +0100`. */
export function formatRfc1123(time: string | undefined): string {
  if (time === undefined) return ZERO;
  const date = new Date(time);
  const minutes = localOffsetMinutes(date);
  const local = new Date(date.getTime() + minutes * 60_000);
  const offset = `${two(Math.trunc(Math.abs(minutes) / 60))}${two(Math.abs(minutes) % 60)}`;
  const day = `${DAYS[local.getUTCDay()] ?? ''}, ${two(local.getUTCDate())} ${MONTHS[local.getUTCMonth()] ?? ''}`;
  const clock = local.toISOString().slice(11, 19);
  return `${day} ${local.getUTCFullYear()} ${clock} ${minutes < 0 ? '-' : '+'}${offset}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
