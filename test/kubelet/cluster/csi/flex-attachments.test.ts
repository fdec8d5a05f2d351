import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Node, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {ATTACHING_DRIVER, putDriver, SEPARATOR} from '../../managers/volumes/plugins/flex/flex-scripts.js';
import {NODE_PATH} from '../cluster-testbed.js';
import {startCsiTestbed} from './csi-testbed.js';

const NAME = 'example.com/box/data';

test('a FlexVolume is in use, waits for the device of the controller, and is in use until the last pod is deleted', async () => {
  const volumePluginDir = await temporaryDirectory();
  const executable = join(volumePluginDir, 'example.com~box/box');
  await putDriver(executable, ATTACHING_DRIVER);
  await using testbed = await startCsiTestbed({driver: false, node: {volumePluginDir}});
  const {cluster} = testbed;
  const {api, daemon} = cluster;
  const statusOfNode = (): NodeStatus => (api.storage.get(NODE_PATH) as Node | undefined)?.status ?? {};
  const isInUse = (): boolean => statusOfNode().volumesInUse?.includes(NAME) === true;
  const calls = (): readonly (readonly string[])[] =>
    readFileSync(`${executable}.calls`, 'utf8')
      .split('\n')
      .map((line) => line.split(SEPARATOR));
  const volumes = [{name: 'data', flexVolume: {driver: 'example.com/box'}}];
  const containers = [{name: 'main', image: 'busybox', volumeMounts: [{name: 'data', mountPath: '/v'}]}];
  testbed.createPod('p', {volumes, containers});
  await daemon.until('it is in use', isInUse);
  expect(calls().map(([command]) => command)).not.toContain('waitforattach');
  const node = api.storage.get(NODE_PATH);
  if (node === undefined) throw new Error('there is no Node');
  const volumesAttached = [{name: NAME, devicePath: '/dev/disk9'}];
  api.storage.put(NODE_PATH, {...node, status: {...statusOfNode(), volumesAttached}});
  await daemon.until('it is mounted', () => calls().some(([command]) => command === 'mountdevice'));
  expect(calls().find(([command]) => command === 'waitforattach')?.[1]).toBe('/dev/disk9');
  expect(calls().map(([command]) => command)).not.toContain('attach');
  await daemon.stop();
  daemon.run();
  await daemon.until('it is still in use', isInUse);
  api.deletePod('p');
  await cluster.untilDeleted('p');
  await daemon.until('it is no longer in use', () => statusOfNode().volumesInUse === undefined);
  const commands = calls().map(([command]) => command);
  expect(commands).toContain('unmountdevice');
  expect(commands).not.toContain('detach');
});
