import {readFileSync} from 'node:fs';
import {execFileSync} from 'node:child_process';
import {mkdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Node, NodeStatus} from '../../../../src/api/types/v1-node.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {ATTACHING_DRIVER, putDriver, SEPARATOR} from '../../managers/volumes/plugins/flex/flex-scripts.js';
import {NODE_PATH} from '../cluster-testbed.js';
import {startCsiTestbed} from './csi-testbed.js';

const NAME = 'example.com/box/data';

/** Starts a kubelet with a driver, whose volume `data` pods have. */
async function startFlexTestbed(script: string) {
  const volumePluginDir = await temporaryDirectory();
  const executable = join(volumePluginDir, 'example.com~box/box');
  await putDriver(executable, script);
  const testbed = await startCsiTestbed({driver: false, node: {volumePluginDir}});
  const {api} = testbed.cluster;
  const statusOfNode = (): NodeStatus => (api.storage.get(NODE_PATH) as Node | undefined)?.status ?? {};
  const volumes = [{name: 'data', flexVolume: {driver: 'example.com/box'}}];
  const containers = [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'data', mountPath: '/v'}]}];
  return {
    ...{testbed, executable, statusOfNode},
    createPod: (name: string) => {
      testbed.createPod(name, {volumes, containers});
    },
    isInUse: (): boolean => statusOfNode().volumesInUse?.includes(NAME) === true,
    calls: (): readonly (readonly string[])[] =>
      readFileSync(`${executable}.calls`, 'utf8')
        .split('\n')
        .map((line) => line.split(SEPARATOR)),
    /** Reports the volume as attached, as a controller does. */
    attach: () => {
      const node = api.storage.get(NODE_PATH);
      if (node === undefined) throw new Error('there is no Node');
      const volumesAttached = [{name: NAME, devicePath: '/dev/disk9'}];
      api.storage.put(NODE_PATH, {...node, status: {...statusOfNode(), volumesAttached}});
    },
    [Symbol.asyncDispose]: async () => testbed[Symbol.asyncDispose](),
  };
}

test('a FlexVolume is in use, waits for the device of the controller, and is in use until the last pod is deleted', async () => {
  await using flex = await startFlexTestbed(ATTACHING_DRIVER);
  const {isInUse, calls, statusOfNode} = flex;
  const {cluster} = flex.testbed;
  const {api, daemon} = cluster;
  flex.createPod('p');
  await daemon.until('it is in use', isInUse);
  expect(calls().map(([command]) => command)).not.toContain('waitforattach');
  flex.attach();
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

test('a FlexVolume of two pods that are deleted together is in use until its device is unmounted', async () => {
  await using flex = await startFlexTestbed(ATTACHING_DRIVER);
  const {isInUse, calls} = flex;
  const {cluster} = flex.testbed;
  const {api, daemon} = cluster;
  for (const name of ['p', 'q']) flex.createPod(name);
  await daemon.until('it is in use', isInUse);
  flex.attach();
  for (const name of ['p', 'q']) await cluster.untilPhase(name, 'Running');
  for (const name of ['p', 'q']) api.deletePod(name);
  await daemon.until('it is no longer in use', () => !isInUse());
  expect(calls().filter(([command]) => command === 'unmountdevice')).toHaveLength(1);
});

test('a FlexVolume that an earlier process has left mounted without a pod is in use', async () => {
  await using flex = await startFlexTestbed(ATTACHING_DRIVER);
  const {isInUse, testbed} = flex;
  const {daemon} = testbed.cluster;
  await daemon.stop();
  expect(isInUse()).toBe(false);
  const path = join(daemon.rootDir, 'plugins/kubernetes.io/flexvolume/example.com/box/mounts/data');
  await mkdir(path, {recursive: true});
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  daemon.run();
  await daemon.until('it is in use', isInUse);
  execFileSync('umount', [path]);
  await daemon.until('it is no longer in use', () => !isInUse());
});
