import {expect, test} from 'vitest';
import {DirectoryWatcher} from '../../../../src/operations/logs/follow/directory-watcher.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

test('a directory that cannot be watched is awaited for the whole timeout, or until an abort', async () => {
  const clock = new FakeClock({sleep: 'instant'});
  using watcher = new DirectoryWatcher(['/nonexistent/directory'], clock);
  await watcher.next(1000, new AbortController().signal);
  expect(clock.sleeps).toEqual([1000]);
  await expect(watcher.next(1000, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});
