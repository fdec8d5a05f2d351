const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** Upper limit in ms, unit, and unit of the remainder; the first matching row applies. */
const SPANS: readonly (readonly [below: number, unit: Unit, remainder?: Unit])[] = [
  [2 * MINUTE, [SECOND, 's']],
  [10 * MINUTE, [MINUTE, 'm'], [SECOND, 's']],
  [3 * HOUR, [MINUTE, 'm']],
  [8 * HOUR, [HOUR, 'h'], [MINUTE, 'm']],
  [2 * DAY, [HOUR, 'h']],
  [8 * DAY, [DAY, 'd'], [HOUR, 'h']],
  [2 * YEAR, [DAY, 'd']],
  [8 * YEAR, [YEAR, 'y'], [DAY, 'd']],
  [Infinity, [YEAR, 'y']],
];

type Unit = readonly [ms: number, name: string];

/**
 * Formats a duration as kubectl formats ages (duration.HumanDuration): `43s`, `5m2s`, `3h`, `2d4h`. Allows one second
 * of clock skew; times further in the future are `<invalid>`.
 */
export function formatAge(ms: number): string {
  if (ms <= -2 * SECOND) return '<invalid>';
  const span = Math.max(ms, 0);
  const [, unit, remainder] = SPANS.find(([below]) => span < below) ?? [];
  if (unit === undefined) return '<invalid>';
  const [unitMs, name] = unit;
  const text = `${Math.trunc(span / unitMs)}${name}`;
  const over = remainder === undefined ? 0 : Math.trunc((span % unitMs) / remainder[0]);
  return over === 0 || remainder === undefined ? text : `${text}${over}${remainder[1]}`;
}

/** Formats the age of an API time; `<unknown>` without one. */
export function formatAgeSince(time: string | undefined, nowMs: number): string {
  return time === undefined ? '<unknown>' : formatAge(nowMs - Date.parse(time));
}
