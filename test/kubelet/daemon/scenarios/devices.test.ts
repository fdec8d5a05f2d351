import {mkdir, readFile, rm, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {parseDeviceCheckpoint} from '../../../../src/kubelet/managers/devices/core/device-checkpoint.js';
import {aContainerSpec} from '../../../commands/command-testbed.js';
import {GrpcStatusError} from '../../../fakes/runtime/grpc-status-error.js';
import {aDevicePod, DeviceTestbed, devicesOf, RESOURCE} from './device-testbed.js';

const UNEXPECTED = (problem: string): string =>
  `Pod was rejected: Allocate failed due to ${problem}, which is unexpected`;

test('a container gets what the plugin answers to Allocate, before what its spec has', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  const limits = {[RESOURCE]: '1'};
  const containers = [
    aContainerSpec('app', {env: [{name: 'DEVS', value: 'mine'}], resources: {limits, requests: limits}}),
  ];
  const {config} = await testbed.runPod('web', aDevicePod('web', 1, {containers}));
  expect(config).toMatchObject({
    devices: [{host_path: '/dev/null', container_path: '/dev/d1', permissions: 'rw'}],
    CDI_devices: [{name: 'example.com/dev=d1'}],
    annotations: {'example.com/devices': 'd1'},
  });
  expect(config.envs.filter(({key}) => key === 'DEVS')).toEqual([
    {key: 'DEVS', value: Buffer.from('mine').toString('base64')},
  ]);
  expect(config.mounts[0]).toEqual({container_path: '/devices', host_path: '/usr/lib', readonly: true});
  expect(plugin.callsTo('Allocate')).toEqual([{container_requests: [{devices_ids: ['d1']}]}]);
  expect((await stat(join(testbed.directory, 'kubelet_internal_checkpoint'))).mode & 0o777).toBe(0o600);
});

test('no device is given to two pods, and a pod too many is rejected', async () => {
  await using testbed = await DeviceTestbed.start();
  await using _plugin = await testbed.plug();
  const given = [devicesOf(await testbed.runPod('a')), devicesOf(await testbed.runPod('b'))];
  expect(given.toSorted()).toEqual(['d1', 'd2']);
  expect(await testbed.rejected('c')).toBe(
    UNEXPECTED(`requested number of devices unavailable for ${RESOURCE}. Requested: 1, Available: 0`),
  );
  await testbed.daemon.remove('a.json');
  await testbed.daemon.until('a is gone', () => testbed.statusOf('a').phase === undefined);
  expect(devicesOf(await testbed.runPod('d'))).toBe(given[0]);
});

test('a device that becomes unhealthy is shown in the status of its pod, which runs on', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  await testbed.runPod('web');
  const health = (value: string) => [{name: RESOURCE, resources: [{resourceID: 'd1', health: value}]}];
  const shown = () => testbed.statusOf('web').containerStatuses?.[0]?.allocatedResourcesStatus;
  expect(shown()).toEqual(health('Healthy'));
  plugin.list([{id: 'd1', health: 'Unhealthy'}, {id: 'd2'}]);
  await testbed.daemon.until('it is unhealthy', () => JSON.stringify(shown()).includes('Unhealthy'));
  expect(shown()).toEqual(health('Unhealthy'));
  expect([testbed.capacityOf(), testbed.allocatableOf()]).toEqual([2, 1]);
  expect(testbed.daemon.running).toEqual(['web-goldennode/app/0']);
});

test('a plugin that ends leaves its resource without healthy devices, and after five minutes without any', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  await testbed.runPod('web');
  await plugin.kill();
  await testbed.daemon.until('its devices are unhealthy', () => testbed.allocatableOf() === 0);
  expect(testbed.capacityOf()).toBe(2);
  expect(await testbed.rejected('late')).toBe(
    UNEXPECTED(`no healthy devices present; cannot allocate unhealthy devices ${RESOURCE}`),
  );
  await testbed.daemon.until('the resource is gone', () => testbed.capacityOf() === undefined);
  expect(testbed.daemon.running).toEqual(['web-goldennode/app/0']);
  await using _again = await testbed.plug();
  expect(devicesOf(await testbed.runPod('next'))).toBe('d2');
});

test('a restarted kubelet knows the devices of its pods, and restarts a container without asking the plugin', async () => {
  await using testbed = await DeviceTestbed.start();
  await using first = await testbed.plug();
  await testbed.runPod('web');
  await testbed.daemon.stop();
  await first.kill();
  testbed.daemon.run();
  await testbed.untilListening();
  expect(testbed.capacityOf()).toBe(0);
  await testbed.daemon.until('it runs', () => testbed.daemon.statusOf('web').phase === 'Running');
  await using plugin = await testbed.plug();
  testbed.daemon.kill('app');
  await testbed.daemon.until('it is restarted', () => testbed.daemon.statusOf('web').restarts === 1);
  expect(devicesOf(testbed.created('web'))).toBe('d1');
  expect(plugin.callsTo('Allocate')).toEqual([]);
  expect(devicesOf(await testbed.runPod('next'))).toBe('d2');
});

test('init containers hand their devices to the containers after them', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  const resources = {limits: {[RESOURCE]: '2'}, requests: {[RESOURCE]: '2'}};
  const more = {
    initContainers: [aContainerSpec('init', {resources})],
    containers: [aContainerSpec('app', {resources})],
  };
  await testbed.daemon.put('web.json', aDevicePod('web', 2, more));
  await testbed.daemon.until('it is admitted', () => plugin.callsTo('Allocate').length === 2);
  expect(plugin.callsTo('Allocate')).toEqual([
    {container_requests: [{devices_ids: ['d1', 'd2']}]},
    {container_requests: [{devices_ids: ['d1', 'd2']}]},
  ]);
});

test('a plugin prefers devices and prepares them before each start', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug({preStartRequired: true, prefersLast: true});
  expect(devicesOf(await testbed.runPod('web'))).toBe('d2');
  expect(plugin.callsTo('GetPreferredAllocation')).toEqual([
    {
      container_requests: [
        {available_deviceIDs: ['d1', 'd2'], must_include_deviceIDs: [], allocation_size: 1},
      ],
    },
  ]);
  testbed.daemon.kill('app');
  await testbed.daemon.until('it is restarted', () => testbed.daemon.statusOf('web').restarts === 1);
  expect(plugin.callsTo('PreStartContainer')).toEqual([{devices_ids: ['d2']}, {devices_ids: ['d2']}]);
});

test('an error of Allocate rejects the pod with its text, and the devices stay free', async () => {
  await using testbed = await DeviceTestbed.start();
  const Allocate = () => {
    throw new GrpcStatusError('INTERNAL', 'the device is on fire');
  };
  await using plugin = await testbed.plug({answers: {Allocate}});
  expect(await testbed.rejected('web')).toBe(
    UNEXPECTED('rpc error: code = Internal desc = the device is on fire'),
  );
  await plugin.kill();
  await using _mended = await testbed.plug();
  expect(devicesOf(await testbed.runPod('next'))).toBe('d1');
});

test('a lost checkpoint is logged, and an impossible one harms no pod', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  await testbed.runPod('web');
  const file = join(testbed.directory, 'kubelet_internal_checkpoint');
  const {allocations} = parseDeviceCheckpoint(await readFile(file, 'utf8'));
  expect(allocations).toMatchObject([{container: 'app', resource: RESOURCE}]);
  await testbed.daemon.stop();
  await plugin.kill();
  await writeFile(file, (await readFile(file, 'utf8')).replace('d1', 'd7'));
  testbed.daemon.run();
  await testbed.untilListening();
  expect(testbed.daemon.errors).toContainEqual(
    'Continue after failing to read checkpoint file. Device allocation info may NOT be up-to-date: checkpoint is corrupted',
  );
  expect(testbed.daemon.running).toEqual(['web-goldennode/app/0']);
});

test('the health check of device plugins fails if they cannot register', async () => {
  await using testbed = await DeviceTestbed.start();
  const checks = () =>
    testbed.daemon.view.healthChecks.map(({name, failure}) => `${name}: ${failure() ?? 'ok'}`);
  expect(checks()).toEqual(['device-plugin: ok']);
  await testbed.daemon.stop();
  await rm(testbed.directory, {recursive: true});
  await writeFile(testbed.directory, 'not a directory');
  testbed.daemon.run();
  await testbed.daemon.until('the manager has failed', () => checks()[0] !== 'device-plugin: ok');
  expect(checks()[0]).toMatch(
    /^device-plugin: device registration error: device plugin registration gRPC server failed and no device plugins can register: /,
  );
  // To be removed with the testbed.
  await rm(testbed.directory);
  await mkdir(testbed.directory);
});
