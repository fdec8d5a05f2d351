import {expect, test, vi} from 'vitest';
import {IdleQueue} from '../../../src/recording/lines/idle-queue.js';
import {collectGarbage} from '../../base/collect-garbage.js';
import {until} from '../../base/until.js';

test('work waits for quiet, keeps its order, and is done at the end', async () => {
  let now = 0;
  using looked = vi.spyOn(performance, 'now').mockImplementation(() => now);
  const queue = new IdleQueue();
  const done: string[] = [];
  const passATurn = async (): Promise<void> => {
    const before = looked.mock.calls.length;
    await until(() => looked.mock.calls.length > before);
  };
  now = 100;
  queue.touch();
  queue.push(() => done.push('first'), 10);
  queue.push(() => done.push('second'), 10);
  await passATurn();
  expect(done).toEqual([]);
  now = 103;
  await until(() => done.length === 2);
  expect(done).toEqual(['first', 'second']);
  queue.touch();
  queue.push(() => done.push('third'), 10);
  await passATurn();
  now = 100_000;
  queue.touch(); // it has waited for too long
  await until(() => done.length === 3);
  queue.touch();
  queue.push(() => done.push('large'), 2 ** 30);
  await until(() => done.length === 4);
  queue.push(() => done.push('last'), 1);
  queue.finish();
  expect(done).toEqual(['first', 'second', 'third', 'large', 'last']);
});

test('work that is done is given back, even if there is always more', async () => {
  using _ = vi.spyOn(performance, 'now').mockReturnValue(0);
  const queue = new IdleQueue();
  const held: WeakRef<object>[] = [];
  let isEnding = false;
  const push = (): void => {
    const message = {};
    held.push(new WeakRef(message));
    queue.push(() => {
      if (!isEnding && message !== queue) push();
    }, 2 ** 30); // is due at once
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
