import {expect, test} from 'vitest';
import {TokenBucket} from '../../../src/base/async/token-bucket.js';
import {FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';

test('a bucket starts full and is refilled at its rate up to the burst', () => {
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  const bucket = new TokenBucket({perSecond: 5, burst: 3}, clock);
  const takenAfter = (ms: number): number => {
    clock.elapse(ms);
    let count = 0;
    while (bucket.tryTake()) count += 1;
    return count;
  };
  expect([takenAfter(0), takenAfter(199), takenAfter(1), takenAfter(400), takenAfter(60_000)]).toEqual([
    3, 0, 1, 2, 3,
  ]);
});

test('takers of an empty bucket wait in turn', async () => {
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  const bucket = new TokenBucket({perSecond: 4, burst: 1}, clock);
  const {signal} = new AbortController();
  for (let count = 0; count < 3; count += 1) await bucket.take(signal);
  expect(clock.sleeps).toEqual([250, 500]);
});

test('a token whose taker was aborted is left for others', async () => {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const bucket = new TokenBucket({perSecond: 1, burst: 1}, clock);
  const ended = new AbortController();
  await bucket.take(ended.signal);
  const waiting = bucket.take(ended.signal);
  ended.abort(new Error('ended'));
  await expect(waiting).rejects.toThrow('ended');
  await expect(bucket.take(ended.signal)).rejects.toThrow('ended');
  clock.elapse(1000);
  expect(bucket.tryTake()).toBe(true);
});
