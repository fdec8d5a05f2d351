import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {mkdtemp} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {expect, test} from 'vitest';
import {removeTree} from '../../../../src/base/fs/remove-tree.js';
import type {NodeManager} from '../../../../src/kubelet/contract/node-manager.js';
import {createDeviceManager} from '../../../../src/kubelet/managers/devices/device-node-manager.js';
import {TopologyManager} from '../../../../src/kubelet/managers/topology/topology-manager.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {FakeDevicePlugin} from '../../../fakes/plugins/fake-device-plugin.js';
import {DaemonTestbed, type DaemonTestbedOptions} from '../daemon-testbed.js';

const RESOURCE = 'example.com/dev';

const aPod = (name: string, count = 1) =>
  aManifest({
    name,
    terminationGracePeriodSeconds: 0,
    containers: [
      aContainerSpec('app', {
        env: [{name: 'DEVS', value: 'mine'}],
        resources: {requests: {[RESOURCE]: String(count)}, limits: {[RESOURCE]: String(count)}},
      }),
    ],
  });

/** A daemon with a directory for device plugins. */
async function startDaemon(options: DaemonTestbedOptions = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-devices-'));
  const testbed = await DaemonTestbed.start({...options, nodeManagers: managersOf(directory)});
  return {
    directory,
    testbed,
    [Symbol.asyncDispose]: async () => {
      await testbed[Symbol.asyncDispose]();
      await removeTree(directory);
    },
  };
}

function managersOf(devicePluginsDir: string): readonly NodeManager[] {
  let topology: TopologyManager | undefined;
  return [
    {
      name: 'topology',
      start: async ({topology: providers}) => {
        topology = new TopologyManager({policy: undefined, providers, managesPodLevel: false});
      },
      admit: async (pod) => {
        await topology?.admit(pod);
        return undefined;
      },
    },
    ...[createDeviceManager({devicePluginsDir})].filter((manager) => manager !== undefined),
  ];
}

test('a container gets the devices of a plugin, and what the plugin answers to Allocate', async () => {
  await using daemon = await startDaemon();
  const {testbed, directory} = daemon;
  await testbed.until('the kubelet listens', () => existsSync(join(directory, 'kubelet.sock')));
  await using plugin = await FakeDevicePlugin.start({directory});
  await plugin.register();
  await testbed.until('the devices are known', () => plugin.watchers === 1);
  await testbed.put('web.json', aPod('web'));
  await testbed.until('it runs', () => testbed.fake.callsTo('CreateContainer').length > 0);
  const [request] = testbed.fake.callsTo('CreateContainer').map((call) => call.request);
  expect((request as {readonly config: object}).config).toMatchObject({
    devices: [{host_path: '/dev/null', container_path: '/dev/d1', permissions: 'rw'}],
    CDI_devices: [{name: 'example.com/dev=d1'}],
    annotations: {'example.com/devices': 'd1'},
  });
  expect(plugin.callsTo('Allocate')).toEqual([{container_requests: [{devices_ids: ['d1']}]}]);
});
