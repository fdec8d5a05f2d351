import {expect, test} from 'vitest';
import {IdleQueue} from '../../../src/recording/tap/idle-queue.js';
import {collectGarbage} from '../../base/collect-garbage.js';
import {until} from '../../base/until.js';

/** Returns a queue on a clock that the test sets, and what waits for a turn of the queue. */
function aQueue() {
  const time = {ms: 100};
  let looks = 0;
  const queue = new IdleQueue({
    now: () => time.ms + 1e12,
    monotonic: () => {
      looks += 1;
      return time.ms;
    },
  });
  const passATurn = async (): Promise<void> => {
    const before = looks;
    await until(() => looks > before);
  };
  return {queue, time, passATurn};
}

test('work waits for quiet, keeps its order, and is done at the end', async () => {
  const {queue, time, passATurn} = aQueue();
  const done: string[] = [];
  queue.touch();
  queue.push(() => done.push('first'), 10);
  queue.push(() => done.push('second'), 10);
  await passATurn();
  expect(done).toEqual([]);
  time.ms = 103;
  await until(() => done.length === 2);
  expect(done).toEqual(['first', 'second']);
  queue.touch();
  queue.push(() => done.push('last'), 10);
  queue.finish();
  expect(done).toEqual(['first', 'second', 'last']);
});

test('work that has waited for a second is done with what waits behind it', async () => {
  const {queue, time, passATurn} = aQueue();
  const done: string[] = [];
  queue.touch();
  queue.push(() => done.push('first'), 10);
  await passATurn();
  time.ms = 1101;
  queue.touch();
  queue.push(() => done.push('second'), 10);
  await until(() => done.length === 2);
  queue.touch();
  queue.push(() => done.push('third'), 10);
  await passATurn();
  expect(done).toEqual(['first', 'second']);
});

test('work that holds too much memory is done at once, though not within other work', () => {
  const {queue} = aQueue();
  const done: string[] = [];
  queue.touch();
  queue.push(() => done.push('small'), 10);
  queue.push(() => {
    queue.push(() => done.push('within'), 2 ** 30);
    done.push('large');
  }, 2 ** 30);
  expect(done).toEqual(['small', 'large', 'within']);
});

test('work that is done later has the time at which it was added', () => {
  const {queue, time} = aQueue();
  const seen: number[] = [];
  queue.push(() => seen.push(queue.clock.now(), queue.clock.monotonic()), 1);
  time.ms = 200;
  queue.finish();
  expect(seen).toEqual([100 + 1e12, 100]);
  expect(queue.clock.monotonic()).toBe(200);
});

test('work that is done is given back, even if there is always more', async () => {
  const queue = new IdleQueue({now: () => 0, monotonic: () => performance.now()});
  const held: WeakRef<object>[] = [];
  let isEnding = false;
  const push = (): void => {
    const message = {};
    held.push(new WeakRef(message));
    queue.push(() => {
      if (!isEnding && message !== queue) push();
    }, 1);
  };
  push();
  push();
  await until(() => held.length > 5000);
  // References that were made in this turn are kept until the next one.
  await until(() => {
    collectGarbage();
    return held.slice(0, 3000).every((each) => each.deref() === undefined);
  });
  isEnding = true;
  queue.finish();
});
