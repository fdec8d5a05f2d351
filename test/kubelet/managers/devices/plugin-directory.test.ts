import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {preparePluginDirectory} from '../../../../src/kubelet/managers/devices/plugin-directory.js';
import {mode, withUmask} from '../../../base/file-mode.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';

test('a new directory of plugins is empty and has mode 0755, as of kubelet 1.36.2', async () => {
  withUmask(0o022);
  const directory = join(await temporaryDirectory(), 'device-plugins');
  await preparePluginDirectory(directory);
  expect(await readdir(directory)).toEqual([]);
  expect(await mode(directory)).toBe(0o755);
});

test('only sockets of earlier plugins are removed', async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, 'sub'));
  await writeFile(join(directory, 'x.sock'), '');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(join(directory, 'plugin.sock'), resolve));
  await preparePluginDirectory(directory);
  expect((await readdir(directory)).toSorted()).toEqual(['sub', 'x.sock']);
  server.close();
});
