import {expect, test} from 'vitest';
import {CallLimiter} from '../../../src/base/async/call-limiter.js';
import {FakeClock} from '../../fakes/fake-clock.js';

/** A limiter of two calls at a time, and calls that end when the test ends them. */
function aLimiter() {
  const clock = new FakeClock();
  const limiter = new CallLimiter({concurrency: 2, patienceMs: 1000}, clock);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const run = async (name: string, rank = 0, signal?: AbortSignal): Promise<string> =>
    limiter.run(
      rank,
      () =>
        new Promise<string>((resolve, reject) => {
          begun.push(name);
          ends.set(name, (error) => {
            if (error === undefined) resolve(name);
            else reject(error);
          });
        }),
      signal,
    );
  return {
    clock,
    begun,
    run,
    limiter,
    end: async (name: string, error?: Error) => {
      ends.get(name)?.(error);
      await turns();
    },
  };
}

const turns = async (): Promise<void> => {
  await new Promise(setImmediate);
};

test('no more calls than the limit run at a time, and the others begin in their order', async () => {
  const {run, begun, end} = aLimiter();
  const results = ['a', 'b', 'c', 'd'].map(async (name) => run(name));
  await turns();
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a');
  await end('c');
  await end('d');
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c', 'd']);
});

test('the waiting call with the lowest rank begins first', async () => {
  const {run, begun, end} = aLimiter();
  for (const [name, rank] of [
    ['a', 2],
    ['b', 2],
    ['c', 2],
    ['d', 1],
    ['e', 2],
    ['f', 0],
    ['g', 1],
  ] as const)
    void run(name, rank);
  for (const name of ['a', 'b', 'f', 'd', 'g', 'c']) await end(name);
  expect(begun).toEqual(['a', 'b', 'f', 'd', 'g', 'c', 'e']);
});

test('a call that fails makes room for the next', async () => {
  const {run, begun, end} = aLimiter();
  const failing = run('a');
  failing.catch(() => undefined);
  void run('b');
  void run('c');
  await end('a', new Error('away'));
  await expect(failing).rejects.toThrow('away');
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('calls that hang stop counting while others wait, and do not count again when they end', async () => {
  const {run, begun, end, clock} = aLimiter();
  for (const name of ['a', 'b', 'c', 'd', 'e']) void run(name);
  await clock.advance(1000);
  await turns();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('a');
  expect(begun).toHaveLength(4);
  await end('c');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('an aborted call leaves the queue and never begins', async () => {
  const {run, begun, end} = aLimiter();
  const abort = new AbortController();
  void run('a');
  void run('b');
  const waiting = run('c', 0, abort.signal);
  void run('d');
  abort.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await end('a');
  expect(begun).toEqual(['a', 'b', 'd']);
  await expect(run('e', 0, abort.signal)).rejects.toThrow('enough');
});

test('no timer is pending while no call waits', async () => {
  const {run, end, clock} = aLimiter();
  for (const name of ['a', 'b', 'c']) void run(name);
  expect(clock.sleeping).toBe(1);
  await end('a');
  expect(clock.sleeping).toBe(0);
});

test('a limiter is busy while calls wait for their turn, also when one of them is cancelled', async () => {
  const {run, end, limiter} = aLimiter();
  await limiter.whenIdle();
  const results = ['a', 'b', 'c'].map(async (name) => run(name));
  const cancel = new AbortController();
  const cancelled = run('d', 0, cancel.signal);
  let isIdle = false;
  void limiter.whenIdle().then(() => {
    isIdle = true;
  });
  await end('a');
  expect({isBusy: limiter.isBusy, isIdle}).toEqual({isBusy: true, isIdle: false});
  cancel.abort(new Error('enough'));
  await expect(cancelled).rejects.toThrow('enough');
  await turns();
  expect({isBusy: limiter.isBusy, isIdle}).toEqual({isBusy: false, isIdle: true});
  await end('b');
  await end('c');
  await Promise.all(results);
});

test('the turn of work ends when it is released, and its result and error are passed on', async () => {
  const {limiter, run, begun, end} = aLimiter();
  const released: (() => void)[] = [];
  const finish: ((error?: Error) => void)[] = [];
  const work = async (release: () => void): Promise<string> =>
    new Promise((resolve, reject) => {
      released.push(release);
      finish.push((error) => {
        if (error === undefined) resolve('done');
        else reject(error);
      });
    });
  const results = [limiter.runUntilReleased(0, work), limiter.runUntilReleased(0, work)];
  const waiting = run('a');
  await turns();
  expect(begun).toEqual([]);
  released[0]!();
  await turns();
  expect(begun).toEqual(['a']);
  finish[0]!();
  finish[1]!(new Error('failed'));
  expect(await Promise.allSettled(results)).toMatchObject([{value: 'done'}, {reason: new Error('failed')}]);
  await end('a');
  expect(await waiting).toBe('a');
});
