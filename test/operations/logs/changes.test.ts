import {expect, test} from 'vitest';
import {FolderChanges} from '../../../src/operations/logs/changes.js';

test('what can not be watched is waited for as long as asked, and interruptibly', async () => {
  const slept: number[] = [];
  const clock = {
    now: () => 0,
    sleep: async (ms: number, signal?: AbortSignal) => {
      slept.push(ms);
      signal?.throwIfAborted();
      await Promise.resolve();
    },
  };
  using changes = new FolderChanges(['/nonexistent/folder'], clock);
  await changes.next(1000, new AbortController().signal);
  expect(slept).toEqual([1000]);
  await expect(changes.next(1000, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});
