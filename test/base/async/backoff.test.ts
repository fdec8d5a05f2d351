import {expect, test} from 'vitest';
import {Backoff} from '../../../src/base/async/backoff.js';

test('the first delay is the initial one, and later delays double up to the cap', () => {
  const backoff = new Backoff(10_000, 35_000);
  const delays = [0, 1, 2, 3].map((n) => {
    backoff.next('web', n * 1000, n * 1000);
    return backoff.get('web');
  });
  expect(delays).toEqual([10_000, 20_000, 35_000, 35_000]);
});

test('a key backs off until its delay after the event has passed, independently of other keys', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('web', 1000, 1000);
  expect(backoff.waitUntil('web', 1000, 5000)).toBe(11_000);
  expect(backoff.waitUntil('web', 1000, 11_000)).toBeUndefined();
  expect(backoff.waitUntil('other', 1000, 5000)).toBeUndefined();
});

test('a key does not back off after an event in the future, since the clock was set back', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('web', 7_200_000, 7_200_000);
  expect(backoff.waitUntil('web', 7_200_000, 7_201_000)).toBe(7_210_000);
  expect(backoff.waitUntil('web', 7_200_000, 1000)).toBeUndefined();
});

test('a key that is reset starts at the initial delay again', () => {
  const backoff = new Backoff(500, 122_000);
  backoff.next('web', 0, 0);
  backoff.next('web', 1000, 1000);
  backoff.reset('web');
  backoff.next('web', 2000, 2000);
  expect(backoff.get('web')).toBe(500);
});

test('an entry expires after the given time instead', () => {
  const backoff = new Backoff(500, 1000, 600_000);
  backoff.next('web', 0, 0);
  backoff.next('web', 600_000, 600_000);
  expect(backoff.get('web')).toBe(1000);
});

test('an entry without updates for twice the cap is dropped and restarts at the initial delay', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('web', 0, 0);
  backoff.next('web', 1000, 1000);
  expect(backoff.waitUntil('web', 601_001, 601_001)).toBeUndefined();
  backoff.next('web', 601_001, 601_001);
  expect(backoff.get('web')).toBe(10_000);
});

/** Returns the delays of a process that runs for each of these times (ms) and restarts after its delay. */
function delaysOf(runs: readonly number[]): readonly number[] {
  const backoff = new Backoff(10_000, 300_000);
  let now = 0;
  return runs.map((run) => {
    const ended = now + run;
    now = backoff.waitUntil('web', ended, ended) ?? ended;
    backoff.next('web', ended, now);
    return now - ended;
  });
}

test.each<[string, readonly number[], readonly number[]]>([
  [
    'exits immediately',
    [0, 0, 0, 0, 0, 0, 0, 0],
    [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000],
  ],
  [
    'runs for twice the cap, without its back-off',
    [0, 0, 0, 0, 0, 0, 600_000, 0],
    [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000],
  ],
  [
    'runs for longer than twice the cap',
    [0, 0, 0, 0, 0, 0, 600_001, 0],
    [0, 10_000, 20_000, 40_000, 80_000, 160_000, 0, 10_000],
  ],
])('the delays of a process that %s', (_, runs, delays) => {
  expect(delaysOf(runs)).toEqual(delays);
});

test('a reverted update has no effect', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('web', 0, 0);
  backoff.next('web', 12_000, 12_000);
  backoff.revert('web');
  expect(backoff.get('web')).toBe(10_000);
  expect(backoff.waitUntil('web', 5000, 12_000)).toBe(15_000);

  backoff.next('new', 0, 0);
  backoff.revert('new');
  expect(backoff.get('new')).toBe(0);
  expect(backoff.waitUntil('new', 0, 0)).toBeUndefined();
});

test('an update drops the entries of other keys that have expired', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('deleted', 0, 0);
  backoff.next('recent', 1, 1);
  backoff.next('web', 600_001, 600_001);
  expect(['deleted', 'recent', 'web'].map((key) => backoff.get(key))).toEqual([0, 10_000, 10_000]);
});

test.each([
  [0, 10_000],
  [9000, 10_000],
  [10_500, 20_000],
  [15_000, 20_000],
  [41_000, 80_000],
  [310_000, 300_000],
  [3_600_000, 10_000],
])('after a wait of %d ms, the restored delay is %d ms', (waitedMs, delayMs) => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.restore('web', waitedMs, 1000);
  expect(backoff.get('web')).toBe(delayMs);
  expect(backoff.waitUntil('web', 2000, 3000)).toBe(2000 + delayMs);
  backoff.next('web', 700_000, 700_000);
  expect(backoff.get('web')).toBe(10_000);
});
