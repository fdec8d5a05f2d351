import {join} from 'node:path';
import {expect, test} from 'vitest';
import {FakeDevicePlugin} from '../../../fakes/plugins/fake-device-plugin.js';
import {FakeRegistrar} from '../../../fakes/plugins/fake-registrar.js';
import {DeviceTestbed, devicesOf, RESOURCE} from './device-testbed.js';

const DEVICE_PLUGIN = {type: 'DevicePlugin', name: RESOURCE, supported_versions: ['v1beta1']};
const REGISTERED = {plugin_registered: true, error: ''};

const socketOf = ({daemon}: DeviceTestbed, name: string): string =>
  join(daemon.rootDir, 'plugins_registry', name);

test('a device plugin registers by its socket, and is deregistered with it', async () => {
  await using testbed = await DeviceTestbed.start();
  await using plugin = await FakeDevicePlugin.start({directory: testbed.directory});
  const info = {...DEVICE_PLUGIN, endpoint: plugin.path};
  await using registrar = await FakeRegistrar.start(socketOf(testbed, 'sub/dev-reg.sock'), info);
  await testbed.daemon.until('it is registered', () => testbed.capacityOf() === 2);
  await testbed.daemon.until('it is told', () => registrar.statuses.length > 0);
  expect(registrar.statuses).toEqual([REGISTERED]);
  expect(devicesOf(await testbed.runPod('web'))).toBe('d1');
  await registrar.stop();
  await testbed.daemon.until('it is deregistered', () => testbed.allocatableOf() === 0);
  await using again = await FakeRegistrar.start(socketOf(testbed, 'sub/dev-reg.sock'), info);
  await testbed.daemon.until('it is registered again', () => testbed.allocatableOf() === 2);
  expect(again.statuses).toEqual([REGISTERED]);
});

test.each([
  [
    'of an unknown type',
    {type: 'Strange', name: 'x'},
    (path: string) => `no handler registered for plugin type: Strange at socket ${path}`,
  ],
  [
    'of another version',
    {...DEVICE_PLUGIN, supported_versions: ['v9', 'v10']},
    () =>
      'plugin validation failed with err: manager version, v1beta1, is not among plugin supported versions [v9 v10]',
  ],
  [
    'with an impossible name',
    {...DEVICE_PLUGIN, name: 'a/b/c'},
    () =>
      'plugin validation failed with err: invalid name of device plugin socket: the ResourceName "a/b/c" is invalid',
  ],
  [
    'whose endpoint does not exist',
    {...DEVICE_PLUGIN, endpoint: '/nonexistent/x.sock'},
    () => 'plugin registration failed with err: failed to dial device plugin: context deadline exceeded',
  ],
])('a plugin %s is told why it is refused, with growing delays', async (_title, info, problem) => {
  await using testbed = await DeviceTestbed.start();
  const path = socketOf(testbed, 'x.sock');
  await using registrar = await FakeRegistrar.start(path, info);
  await testbed.daemon.until('it is told three times', () => registrar.statuses.length >= 3);
  const error = `RegisterPlugin error -- ${problem(path)}`;
  expect(registrar.statuses.slice(0, 3)).toEqual(Array(3).fill({plugin_registered: false, error}));
});
