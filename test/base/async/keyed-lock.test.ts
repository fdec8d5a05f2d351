import {expect, test} from 'vitest';
import {KeyedLock} from '../../../src/base/async/keyed-lock.js';
import {nextIteration} from '../../../src/base/async/next-iteration.js';

interface Work {
  readonly end: () => void;
  readonly done: Promise<unknown>;
}

class Bench {
  readonly lock = new KeyedLock();
  readonly started: string[] = [];

  work(name: string, keys: readonly string[], signal?: AbortSignal): Work {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const run = async (): Promise<void> => {
      this.started.push(name);
      await ended;
    };
    return {end, done: this.lock.run(keys, run, signal).catch(() => undefined)};
  }
}

test('work on one key runs in order, work on others at once', async () => {
  const bench = new Bench();
  const first = bench.work('first', ['a']);
  const second = bench.work('second', ['a', 'b']);
  const other = bench.work('other', ['c']);
  const third = bench.work('third', ['b']);
  await nextIteration();
  expect(bench.started).toEqual(['first', 'other']);
  first.end();
  await first.done;
  await nextIteration();
  expect(bench.started).toEqual(['first', 'other', 'second']);
  second.end();
  await second.done;
  await nextIteration();
  expect(bench.started).toEqual(['first', 'other', 'second', 'third']);
  for (const {end} of [other, third]) end();
});

test('who gives up waiting lets nobody overtake', async () => {
  const bench = new Bench();
  const first = bench.work('first', ['a']);
  const abort = new AbortController();
  const second = bench.work('second', ['a'], abort.signal);
  const third = bench.work('third', ['a']);
  abort.abort();
  await second.done;
  await nextIteration();
  expect(bench.started).toEqual(['first']);
  first.end();
  await first.done;
  await nextIteration();
  expect(bench.started).toEqual(['first', 'third']);
  third.end();
});
