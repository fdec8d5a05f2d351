import {describe, expect, test} from 'vitest';
import {PullQueue, TokenBucket} from '../../../src/kubelet/images/pull-queue.js';
import {aClock} from './a-clock.js';

const signal = new AbortController().signal;

/** Work that takes until it is told to end, and says when it has begun. */
function someWork(log: string[], name: string) {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = async (): Promise<string> => {
    log.push(name);
    await ended;
    return name;
  };
  return {
    work,
    end: () => {
      end();
    },
  };
}

const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('pulls are let through', () => {
  test.each([
    [1, ['a']],
    [2, ['a', 'b']],
    [Infinity, ['a', 'b', 'c']],
  ])('%s at once, in the order in which they came', async (atOnce, first) => {
    const queue = new PullQueue(atOnce);
    const log: string[] = [];
    const works = ['a', 'b', 'c'].map((name) => someWork(log, name));
    const all = works.map(({work}) => queue.run(work, signal));
    await settled();
    expect(log).toEqual(first);
    for (const {end} of works) end();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
    expect(log).toEqual(['a', 'b', 'c']);
  });

  test('on after one that failed', async () => {
    const queue = new PullQueue(1);
    const failing = queue.run(() => Promise.reject(new Error('no')), signal);
    const next = queue.run(() => Promise.resolve('next'), signal);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  test('past one that has given up', async () => {
    const queue = new PullQueue(1);
    const log: string[] = [];
    const [first, second, third] = ['a', 'b', 'c'].map((name) => someWork(log, name));
    const controller = new AbortController();
    const running = queue.run(first!.work, signal);
    const given = queue.run(second!.work, controller.signal);
    const waiting = queue.run(third!.work, signal);
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(given).rejects.toBe(reason);
    first!.end();
    third!.end();
    expect(await Promise.all([running, waiting])).toEqual(['a', 'c']);
    expect(log).toEqual(['a', 'c']);
    await expect(queue.run(second!.work, controller.signal)).rejects.toBe(reason);
  });
});

test('tokens are a burst at first, and come back at their rate up to that', () => {
  const clock = aClock();
  const bucket = new TokenBucket({perSecond: 5, burst: 3}, clock);
  const taken = (ms: number): number => {
    clock.pass(ms);
    let count = 0;
    while (bucket.tryTake()) count += 1;
    return count;
  };
  expect([taken(0), taken(199), taken(1), taken(400), taken(60_000)]).toEqual([3, 0, 1, 2, 3]);
});
