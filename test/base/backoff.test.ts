import {expect, test} from 'vitest';
import {Backoff} from '../../src/base/backoff.js';

test('the first delay is the initial one, later ones double up to the cap', () => {
  const backoff = new Backoff(10_000, 35_000);
  const delays = [0, 1, 2, 3].map((n) => {
    backoff.next('web', n * 1000);
    return backoff.get('web');
  });
  expect(delays).toEqual([10_000, 20_000, 35_000, 35_000]);
});

test('a key waits until its delay after the event has passed, and others do not', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('web', 1000);
  expect(backoff.waitUntil('web', 1000, 5000)).toBe(11_000);
  expect(backoff.waitUntil('web', 1000, 11_000)).toBeUndefined();
  expect(backoff.waitUntil('other', 1000, 5000)).toBeUndefined();
});

test('an entry without news for twice the cap is forgotten and starts afresh', () => {
  const backoff = new Backoff(10_000, 300_000);
  backoff.next('web', 0);
  backoff.next('web', 1000);
  expect(backoff.waitUntil('web', 601_001, 601_001)).toBeUndefined();
  backoff.next('web', 601_001);
  expect(backoff.get('web')).toBe(10_000);
});
