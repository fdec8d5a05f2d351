import {expect, test} from 'vitest';
import {timestampOf} from '../../src/base/clock.js';
import {FakeClock, TEST_TIME_MS} from '../fakes/fake-clock.js';

test('a moment of the monotonic clock has the timestamp that the clock had shown if it had always been right', () => {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  clock.elapse(5000);
  const moment = clock.monotonic();
  clock.elapse(2000);
  expect(timestampOf(clock, moment)).toBe(TEST_TIME_MS + 5000);
  clock.jump(3_600_000);
  expect(timestampOf(clock, moment)).toBe(TEST_TIME_MS + 5000 + 3_600_000);
  expect(timestampOf(clock, moment + 10_000)).toBe(clock.now() + 8000);
});
