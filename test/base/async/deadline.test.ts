import {expect, test} from 'vitest';
import {createDeadline} from '../../../src/base/async/deadline.js';
import {FakeClock} from '../../fakes/fake-clock.js';

test('aborts when the time has passed', async () => {
  const clock = new FakeClock();
  using limit = createDeadline(clock, 500);
  expect(limit.signal.aborted).toBe(false);
  await clock.advance(clock.sleeps.at(-1) ?? 500);
  expect(limit.signal.aborted).toBe(true);
  expect(clock.sleeps).toEqual([500]);
});

test('never aborts without a limit', async () => {
  const clock = new FakeClock();
  using limit = createDeadline(clock, undefined);
  await clock.advance(clock.sleeps.at(-1) ?? 500);
  expect(limit.signal.aborted).toBe(false);
  expect(clock.sleeps).toEqual([]);
});

test('sleeps repeatedly for times above the maximum of a timer', async () => {
  const clock = new FakeClock();
  using limit = createDeadline(clock, 2 ** 32);
  await clock.advance(clock.sleeps.at(-1) ?? 500);
  await clock.advance(clock.sleeps.at(-1) ?? 500);
  expect(limit.signal.aborted).toBe(false);
  await clock.advance(clock.sleeps.at(-1) ?? 500);
  expect(limit.signal.aborted).toBe(true);
  expect(clock.sleeps).toEqual([2 ** 31 - 1, 2 ** 31 - 1, 2]);
});

test('a disposed deadline ends its sleep and never aborts', async () => {
  const clock = new FakeClock();
  const limit = createDeadline(clock, 500);
  limit[Symbol.dispose]();
  await clock.advance(clock.sleeps.at(-1) ?? 500);
  expect(limit.signal.aborted).toBe(false);
});
