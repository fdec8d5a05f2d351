import {expect, test} from 'vitest';
import {BackgroundWork, type BackgroundError} from '../../../src/base/async/background-work.js';
import {until} from '../until.js';

test('a rejection reaches the owner with the part, and other work continues', async () => {
  const errors: BackgroundError[] = [];
  const work = new BackgroundWork((error) => errors.push(error));
  let finish = (): void => undefined;
  work.start('eviction', Promise.reject(new Error('a bug')));
  work.start(
    'container GC',
    new Promise<void>((resolve) => {
      finish = resolve;
    }),
  );
  await until(() => errors.length === 1);
  expect(errors[0]).toMatchObject({part: 'eviction', message: 'eviction failed: a bug'});
  let isIdle = false;
  const idle = work.idle().then(() => {
    isIdle = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isIdle).toBe(false);
  finish();
  await idle;
  expect(errors).toHaveLength(1);
});

test('idle waits for work that was started meanwhile', async () => {
  const work = new BackgroundWork(() => undefined);
  const done: string[] = [];
  const second = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    done.push('second');
  };
  work.start(
    'first',
    (async () => {
      await new Promise((resolve) => setImmediate(resolve));
      work.start('second', second());
      done.push('first');
    })(),
  );
  await work.idle();
  expect(done).toEqual(['first', 'second']);
});
