import {expect, test} from 'vitest';
import type {Clock} from '../../src/base/clock.js';
import {timeLimit} from '../../src/base/time-limit.js';

/** A clock whose sleeps are noted, and end when the test says so. */
function aHandClock(): Clock & {readonly sleeps: number[]; wake(): Promise<void>} {
  const sleeps: number[] = [];
  let wake: () => void = () => undefined;
  return {
    sleeps,
    now: () => 0,
    sleep: async (ms, signal) => {
      sleeps.push(ms);
      await new Promise<void>((resolve, reject) => {
        wake = resolve;
        signal?.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
      });
    },
    wake: async () => {
      wake();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('aborts when the time is up', async () => {
  const clock = aHandClock();
  using limit = timeLimit(clock, 500);
  expect(limit.signal.aborted).toBe(false);
  await clock.wake();
  expect(limit.signal.aborted).toBe(true);
  expect(clock.sleeps).toEqual([500]);
});

test('never aborts without a limit', async () => {
  const clock = aHandClock();
  using limit = timeLimit(clock, undefined);
  await clock.wake();
  expect(limit.signal.aborted).toBe(false);
  expect(clock.sleeps).toEqual([]);
});

test('sleeps again and again where the time is longer than a timer can be', async () => {
  const clock = aHandClock();
  using limit = timeLimit(clock, 2 ** 32);
  await clock.wake();
  await clock.wake();
  expect(limit.signal.aborted).toBe(false);
  await clock.wake();
  expect(limit.signal.aborted).toBe(true);
  expect(clock.sleeps).toEqual([2 ** 31 - 1, 2 ** 31 - 1, 2]);
});

test('disposed of, it ends its sleep and never aborts', async () => {
  const clock = aHandClock();
  const limit = timeLimit(clock, 500);
  limit[Symbol.dispose]();
  await clock.wake();
  expect(limit.signal.aborted).toBe(false);
});
