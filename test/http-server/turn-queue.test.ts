import {performance} from 'node:perf_hooks';
import {expect, test} from 'vitest';
import {until} from '../base/until.js';
import {TurnQueue} from '../../src/http-server/turn-queue.js';

/** Keeps the processor busy. */
function work(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

test('urgent tasks precede those that were added before them', async () => {
  const turns = new TurnQueue();
  const done: string[] = [];
  turns.schedule(() => done.push('normal'));
  turns.scheduleUrgent(() => done.push('urgent'));
  await until(() => done.length === 2);
  expect(done).toEqual(['urgent', 'normal']);
});

test('the event loop continues between the slices of many tasks', async () => {
  const turns = new TurnQueue();
  let done = 0;
  let doneAtTimer: number | undefined;
  for (let task = 0; task < 100; task += 1)
    turns.schedule(() => {
      work(1);
      done += 1;
    });
  setTimeout(() => (doneAtTimer = done), 1);
  await until(() => done === 100);
  expect(doneAtTimer).toBeLessThan(100);
});

test('the time of the microtasks that a task starts counts', async () => {
  const turns = new TurnQueue();
  let done = 0;
  let doneAtTimer: number | undefined;
  for (let task = 0; task < 100; task += 1)
    turns.schedule(
      () =>
        void Promise.resolve().then(() => {
          work(1);
          done += 1;
        }),
    );
  setTimeout(() => (doneAtTimer = done), 1);
  await until(() => done === 100);
  expect(doneAtTimer).toBeLessThan(100);
});

test('tasks that are added by tasks run later', async () => {
  const turns = new TurnQueue();
  const done: string[] = [];
  turns.schedule(() => {
    turns.schedule(() => done.push('inner'));
    done.push('outer');
  });
  await until(() => done.length === 2);
  turns.schedule(() => done.push('last'));
  await until(() => done.length === 3);
  expect(done).toEqual(['outer', 'inner', 'last']);
});
