import {describe, expect, test} from 'vitest';
import {PullQueue} from '../../../../src/kubelet/managers/images/pull-queue.js';

const signal = new AbortController().signal;

/** Creates a pull that logs its start and runs until `finish` is called. */
function aPull(log: string[], name: string) {
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const pull = async (): Promise<string> => {
    log.push(name);
    await finished;
    return name;
  };
  return {
    pull,
    finish: () => {
      finish();
    },
  };
}

const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a pull queue', () => {
  test.each([
    [1, ['a']],
    [2, ['a', 'b']],
    [Infinity, ['a', 'b', 'c']],
  ])('with limit %s starts %j first and the others in order', async (maxParallel, first) => {
    const queue = new PullQueue(maxParallel);
    const log: string[] = [];
    const pulls = ['a', 'b', 'c'].map((name) => aPull(log, name));
    const all = pulls.map(({pull}) => queue.run(pull, signal));
    await settled();
    expect(log).toEqual(first);
    for (const {finish} of pulls) finish();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
    expect(log).toEqual(['a', 'b', 'c']);
  });

  test('continues after a failed pull', async () => {
    const queue = new PullQueue(1);
    const failing = queue.run(() => Promise.reject(new Error('no')), signal);
    const next = queue.run(() => Promise.resolve('next'), signal);
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('next');
  });

  test('skips an aborted pull', async () => {
    const queue = new PullQueue(1);
    const log: string[] = [];
    const [first, second, third] = ['a', 'b', 'c'].map((name) => aPull(log, name));
    const controller = new AbortController();
    const running = queue.run(first!.pull, signal);
    const aborted = queue.run(second!.pull, controller.signal);
    const waiting = queue.run(third!.pull, signal);
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(aborted).rejects.toBe(reason);
    first!.finish();
    third!.finish();
    expect(await Promise.all([running, waiting])).toEqual(['a', 'c']);
    expect(log).toEqual(['a', 'c']);
    await expect(queue.run(second!.pull, controller.signal)).rejects.toBe(reason);
  });
});
