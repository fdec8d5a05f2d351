import {expect, test} from 'vitest';
import {coalesce} from '../../../src/base/async/coalesce.js';

/** A call whose results, the numbers of the calls, are supplied by the test. */
function aCall() {
  const begun: ((error?: Error) => void)[] = [];
  const ask = coalesce(
    () =>
      new Promise<number>((resolve, reject) => {
        const number = begun.length + 1;
        begun.push((error) => {
          if (error === undefined) resolve(number);
          else reject(error);
        });
      }),
  );
  return {ask, begun};
}

const turns = async () => {
  await new Promise(setImmediate);
};

test('callers during a running call share the next call, which starts afterwards', async () => {
  const {ask, begun} = aCall();
  const first = [ask(), ask()];
  await turns();
  const later = [ask(), ask(), ask()];
  await turns();
  expect(begun).toHaveLength(1);
  begun[0]?.();
  await turns();
  begun[1]?.();
  expect(await Promise.all([...first, ...later])).toEqual([1, 1, 2, 2, 2]);
  expect(begun).toHaveLength(2);
});

test('a failed call rejects for its callers, and the next call still runs', async () => {
  const {ask, begun} = aCall();
  const first = ask();
  await turns();
  const later = ask();
  begun[0]?.(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await turns();
  begun[1]?.();
  expect(await later).toBe(2);
});
