import {expect, test} from 'vitest';
import {FakeDevicePlugin} from '../../../fakes/plugins/fake-device-plugin.js';
import {aDevicePod, DeviceTestbed, devicesOf, RESOURCE} from './device-testbed.js';

const never = async (): Promise<object> => await new Promise<object>(() => undefined);

test.each([
  [
    {version: 'v9'},
    'requested API version "v9" is not supported by kubelet. Supported version is ["v1beta1"]',
  ],
  [{resource_name: 'cpu'}, 'the ResourceName "cpu" is invalid'],
  [{resource_name: 'a/b/c'}, 'the ResourceName "a/b/c" is invalid'],
  [{resource_name: 'kubernetes.io/x'}, 'the ResourceName "kubernetes.io/x" is invalid'],
  [{endpoint: 'nosuch.sock'}, 'failed to dial device plugin: context deadline exceeded'],
  [{endpoint: '../../etc'}, 'failed to dial device plugin: context deadline exceeded'],
])('a registration with %j fails with the text of a kubelet', async (request, details) => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await FakeDevicePlugin.start({directory: testbed.directory});
  await expect(plugin.register(request)).rejects.toMatchObject({code: 2, details});
  expect(testbed.capacityOf()).toBeUndefined();
});

test.each(['GetPreferredAllocation', 'Allocate'])(
  'a plugin that never answers to %s costs only the pod that needs it',
  async (method) => {
    await using testbed = await DeviceTestbed.start();
    await using _plugin = await testbed.plug({prefersLast: true, answers: {[method]: never}});
    expect(await testbed.rejected('web')).toContain(
      `rpc error: code = DeadlineExceeded desc = no answer to ${method} within 120s, which is unexpected`,
    );
    await testbed.runPod('other', aDevicePod('other', 0));
  },
);

test('a plugin that allocates nothing costs only the pod that needs it', async () => {
  await using testbed = await DeviceTestbed.start();
  await using _plugin = await testbed.plug({answers: {Allocate: () => ({container_responses: []})}});
  // The space before the comma is a kubelet's.
  expect(await testbed.rejected('web')).toBe(
    'Pod was rejected: Allocate failed due to no containers return in allocation response , which is unexpected',
  );
});

test('a plugin that never answers to GetDevicePluginOptions is not registered', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await FakeDevicePlugin.start({
    directory: testbed.directory,
    answers: {GetDevicePluginOptions: never},
  });
  await expect(plugin.register()).rejects.toMatchObject({code: 2});
  expect(testbed.capacityOf()).toBeUndefined();
});

test('of two devices with one ID there is one, and an empty list takes the resource from no other', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await FakeDevicePlugin.start({
    directory: testbed.directory,
    devices: [{id: 'd1'}, {id: 'd1'}, {id: '../d2'}],
  });
  await plugin.register();
  await testbed.daemon.until('the devices are known', () => testbed.capacityOf() === 2);
  await using _other = await testbed.plug({resource: 'example.com/other', socket: 'other.sock', devices: []});
  expect(devicesOf(await testbed.runPod('web', aDevicePod('web', 2)))).toBe('d1,../d2');
});

test('a plugin that sends lists all the time does not stop the others, and the last list counts', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  for (let count = 1; count <= 500; count += 1)
    plugin.list(Array.from({length: (count % 7) + 1}, (_, index) => ({id: `d${index}`})));
  plugin.list([{id: 'last'}]);
  await testbed.daemon.until('the last list is known', () => testbed.capacityOf() === 1);
  expect(devicesOf(await testbed.runPod('web'))).toBe('last');
});

test('ten thousand devices can be listed and allocated', async () => {
  await using testbed = await DeviceTestbed.start();
  const devices = Array.from({length: 10_000}, (_, index) => ({
    id: `device-${index}`,
    numaNodes: [index % 2],
  }));
  await using plugin = await testbed.plug({devices});
  const {config} = await testbed.runPod('web', aDevicePod('web', 5000));
  expect(config.annotations['example.com/devices']?.split(',')).toHaveLength(5000);
  plugin.list(devices.map((device) => ({...device, health: 'Unhealthy'})));
  await testbed.daemon.until('all are unhealthy', () => testbed.allocatableOf() === 0);
});

test('a plugin that registers for the resource of another replaces it, and its end ends both', async () => {
  await using testbed = await DeviceTestbed.start();
  await using first = await testbed.plug();
  await testbed.runPod('web');
  await using thief = await testbed.plug({socket: 'thief.sock', devices: [{id: 't1'}]});
  expect(devicesOf(await testbed.runPod('next'))).toBe('t1');
  await first.kill();
  await testbed.daemon.until('the resource has no healthy devices', () => testbed.allocatableOf() === 0);
  await testbed.daemon.until('the other one is disconnected', () => thief.watchers === 0);
  expect(testbed.daemon.running).toEqual(['next-goldennode/app/0', 'web-goldennode/app/0']);
});

test('a plugin that registers again and again keeps few connections', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug();
  for (let count = 0; count < 30; count += 1) await plugin.register();
  await testbed.daemon.until('only some are left', () => plugin.watchers <= 8);
  expect(testbed.allocatableOf()).toBe(2);
  expect(testbed.capacityOf(RESOURCE)).toBe(2);
});

test('a plugin that dies while it allocates rejects the pod, and no device is lost', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await testbed.plug({
    answers: {
      Allocate: async () => {
        await plugin.kill();
        return {};
      },
    },
  });
  expect(await testbed.rejected('web')).toMatch(
    /^Pod was rejected: Allocate failed due to rpc error: code = /,
  );
  await using _mended = await testbed.plug();
  expect(devicesOf(await testbed.runPod('next', aDevicePod('next', 2)))).toBe('d1,d2');
});
