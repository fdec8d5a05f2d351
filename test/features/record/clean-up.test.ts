import {existsSync} from 'node:fs';
import {mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {cleanUp} from '../../../src/features/record/replay/clean-up.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';

test('an image that cannot be removed leaves nothing else behind', async () => {
  await using runtime = await FakeRuntime.start();
  using connection = connect(runtime.endpoint);
  const directory = await mkdtemp(join(await temporaryDirectory(), 'replay-'));
  const removed: string[] = [];
  const remove = async (image: string): Promise<void> => {
    if (image === 'busy:1') throw new Error('it is in use');
    removed.push(await Promise.resolve(image));
  };
  const images = {pulled: ['busy:1', 'other:1'], remove};
  const failures = await cleanUp(connection, {
    uids: new Set(),
    images,
    directory,
    cgroupMount: undefined,
    cgroups: 'kcri-replay',
  });
  expect(failures).toEqual(['removing image busy:1: it is in use']);
  expect(removed).toEqual(['other:1']);
  expect(existsSync(directory)).toBe(false);
});
