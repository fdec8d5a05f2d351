import type {Clock} from '../../../src/base/clock.js';

/** A clock that stands still until it is told that time has passed. */
export function aClock(): Clock & {pass(ms: number): void} {
  let now = Date.parse('2026-05-01T12:00:00Z');
  return {
    now: () => now,
    sleep: () => Promise.resolve(),
    pass: (ms) => {
      now += ms;
    },
  };
}
