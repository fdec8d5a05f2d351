import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {mode, withUmask} from '../../../base/file-mode.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/** Directories that kubelet 1.36.2 had made in an empty root directory before its first pod, without files and its own sockets. */
const RECORDED = {
  pods: 0o750,
  plugins: 0o750,
  plugins_registry: 0o750,
  checkpoints: 0o700,
  image_manager: 0o700,
  'image_manager/pulling': 0o700,
  'image_manager/pulled': 0o700,
};

test('the root directory has the directories of a kubelet, with its modes', async () => {
  withUmask(0o022);
  await using testbed = await DaemonTestbed.start();
  const path = (name: string): string => join(testbed.rootDir, name);
  const names = Object.keys(RECORDED);
  await testbed.until('they exist', () => names.every((name) => existsSync(path(name))));
  const modes = await Promise.all(names.map(async (name) => [name, await mode(path(name))]));
  expect(Object.fromEntries(modes)).toEqual(RECORDED);
});
