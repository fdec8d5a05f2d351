import fc from 'fast-check';
import {expect, test} from 'vitest';
import {AsyncQueue} from '../../../src/base/async/async-queue.js';

type Step = {readonly kind: 'push'; readonly count: number} | {readonly kind: 'take'; readonly count: number};

const steps = fc.array(
  fc.record({kind: fc.constantFrom('push', 'take'), count: fc.integer({min: 0, max: 1500})}),
  {maxLength: 12},
) as fc.Arbitrary<readonly Step[]>;

test('items are delivered once and in order, and the size is the number of waiting items', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const queue = new AsyncQueue<number>();
      let [pushed, taken] = [0, 0];
      for (const {kind, count} of all)
        for (let n = 0; n < count; n += 1)
          if (kind === 'push') queue.push(pushed++);
          else if (taken < pushed) expect(await queue.next()).toBe(taken++);
      expect(queue.size).toBe(pushed - taken);
    }),
    {numRuns: 30},
  );
});

test('a waiting consumer receives the next item', async () => {
  const queue = new AsyncQueue<string>();
  const first = queue.next();
  queue.push('a');
  expect(await first).toBe('a');
});

test('a full queue rejects items until one is taken', async () => {
  const queue = new AsyncQueue<number>(2);
  expect([queue.push(1), queue.push(2), queue.push(3)]).toEqual([true, true, false]);
  await queue.next();
  expect(queue.push(4)).toBe(true);
  expect([await queue.next(), await queue.next()]).toEqual([2, 4]);
});

test('an abort ends a wait, and a later item goes to the next consumer', async () => {
  const queue = new AsyncQueue<string>();
  const stop = new AbortController();
  const waiting = queue.next(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');

  queue.push('late');
  expect(await queue.next()).toBe('late');
});

test('a queued item is returned even if the signal is already aborted', async () => {
  const queue = new AsyncQueue<string>();
  queue.push('there');
  expect(await queue.next(AbortSignal.abort())).toBe('there');
});
