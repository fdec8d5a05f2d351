import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {removeUnusedState} from '../../../src/private-runtime/lifecycle/tear-down.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** Creates a root directory whose daemon has stopped. */
async function leaveRootDir(...directories: readonly string[]): Promise<string> {
  const rootDir = await temporaryDirectory();
  for (const directory of ['pods', 'kcri/records', 'kcri/locks', ...directories])
    await mkdir(join(rootDir, directory), {recursive: true});
  for (const file of ['allocated_pods_state', 'actuated_pods_state'])
    await writeFile(join(rootDir, file), '');
  return rootDir;
}

test('without pods nothing is left of the state of a daemon', async () => {
  const rootDir = await leaveRootDir();
  await removeUnusedState(rootDir);
  expect(await readdir(rootDir)).toEqual([]);
});

test.each(['pods/uid', 'kcri/records/uid.json'])('with %s the state of the daemon stays', async (left) => {
  const rootDir = await leaveRootDir(left);
  await removeUnusedState(rootDir);
  expect(await readdir(rootDir)).toEqual(
    expect.arrayContaining(['actuated_pods_state', 'allocated_pods_state']),
  );
});
