import {readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {FakeDraDriver, type FakeDraDriverOptions} from '../fakes/plugins/fake-dra-driver.js';
import {FakeRegistrar} from '../fakes/plugins/fake-registrar.js';
import {aContainerSpec, aManifest, type CommandTestbed} from './command-testbed.js';

export const DRIVER = 'dra.example.com';

export const CLASS = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: {name: 'gpu'},
  spec: {selectors: [{cel: {expression: `device.driver == "${DRIVER}"`}}]},
};

export const SLICE = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: {name: 'slice'},
  spec: {
    driver: DRIVER,
    pool: {name: 'pool', generation: 1, resourceSliceCount: 1},
    allNodes: true,
    devices: [{name: 'dev'}],
  },
};

export const TEMPLATE = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: {name: 'one'},
  spec: {spec: {devices: {requests: [{name: 'req', exactly: {deviceClassName: 'gpu'}}]}}},
};

export const aPod = (name: string, metadata: object = {}): string =>
  aManifest({
    ...{name, metadata},
    containers: [aContainerSpec('main', {resources: {claims: [{name: 'gpu'}]}})],
    resourceClaims: [{name: 'gpu', resourceClaimTemplateName: 'one'}],
  });

export const documents = (pod: string, ...objects: readonly object[]): string =>
  [pod, ...objects.map((object) => JSON.stringify(object))].join('\n---\n');

/** Starts a driver with a socket in the registry of the root directory. */
export async function startDriver(
  {rootDir}: Pick<CommandTestbed, 'rootDir'>,
  options: Omit<FakeDraDriverOptions, 'path'> = {},
): Promise<FakeDraDriver & {stop(): Promise<void>}> {
  const path = join(rootDir, 'plugins', DRIVER, 'dra.sock');
  const driver = await FakeDraDriver.start({path, ...options});
  const info = {type: 'DRAPlugin', name: DRIVER, endpoint: path, supported_versions: ['v1.DRAPlugin']};
  const registrar = await FakeRegistrar.start(join(rootDir, 'plugins_registry', 'dra-reg.sock'), info);
  return Object.assign(driver, {
    stop: async () => {
      await registrar.stop();
      await driver.kill();
    },
  });
}

export const stored = async ({rootDir}: Pick<CommandTestbed, 'rootDir'>): Promise<readonly string[]> =>
  (await readdir(join(rootDir, 'kcri/resource-claims')).catch(() => [])).filter((name) =>
    name.endsWith('.json'),
  );
