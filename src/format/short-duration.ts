const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** up to this → in this unit, and what is over in that one; the first that fits wins */
const SPANS: readonly (readonly [below: number, unit: Unit, rest?: Unit])[] = [
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
 * A span of time as kubectl writes ages (duration.HumanDuration): `43s`, `5m2s`, `3h`, `2d4h`. Clocks may be a second
 * apart; what is more than that in the future is `<invalid>`.
 */
export function shortDuration(ms: number): string {
  if (ms <= -2 * SECOND) return '<invalid>';
  const span = Math.max(ms, 0);
  const [, unit, rest] = SPANS.find(([below]) => span < below) ?? [];
  if (unit === undefined) return '<invalid>';
  const [unitMs, name] = unit;
  const whole = `${Math.trunc(span / unitMs)}${name}`;
  const over = rest === undefined ? 0 : Math.trunc((span % unitMs) / rest[0]);
  return over === 0 || rest === undefined ? whole : `${whole}${over}${rest[1]}`;
}

/** How long ago a time of the API was; `<unknown>` without one. */
export function ageOf(time: string | undefined, nowMs: number): string {
  return time === undefined ? '<unknown>' : shortDuration(nowMs - Date.parse(time));
}
