import {expect, test} from 'vitest';
import {pause} from '../../../src/base/async/pause.js';
import {WakeableSleep} from '../../../src/base/async/wakeable-sleep.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const PAUSES = [
  [-1, 10],
  [0, 10],
  [Number.NaN, 10],
  [Number.NEGATIVE_INFINITY, 10],
  [0.5, 10],
  [11, 11],
  [60_000, 60_000],
  [Number.POSITIVE_INFINITY, 2 ** 31 - 1],
] as const;

test.each(PAUSES)('a pause of %d ms takes %d ms', async (ms, expected) => {
  const clock = new FakeClock({sleep: 'instant'});
  await pause(clock, ms);
  await new WakeableSleep(clock).sleep(ms, new AbortController().signal);
  expect(clock.sleeps).toEqual([expected, expected]);
});

test('a pause ends with the reason of its signal', async () => {
  const clock = new FakeClock();
  const end = new AbortController();
  const paused = pause(clock, 0, end.signal);
  end.abort(new Error('over'));
  await expect(paused).rejects.toThrow('over');
});
