import {readFile, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {FakeDraDriver, type FakeDraDriverOptions} from '../../fakes/plugins/fake-dra-driver.js';
import {FakeRegistrar} from '../../fakes/plugins/fake-registrar.js';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';

type Testbed = Awaited<ReturnType<typeof createTestbed>>;

const DRIVER = 'dra.example.com';

const CLASS = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'DeviceClass',
  metadata: {name: 'gpu'},
  spec: {selectors: [{cel: {expression: `device.driver == "${DRIVER}"`}}]},
};

const SLICE = {
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

const TEMPLATE = {
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceClaimTemplate',
  metadata: {name: 'one'},
  spec: {spec: {devices: {requests: [{name: 'req', exactly: {deviceClassName: 'gpu'}}]}}},
};

const aPod = (name: string): string =>
  aManifest({
    name,
    containers: [aContainerSpec('main', {resources: {claims: [{name: 'gpu'}]}})],
    resourceClaims: [{name: 'gpu', resourceClaimTemplateName: 'one'}],
  });

const documents = (pod: string, ...objects: readonly object[]): string =>
  [pod, ...objects.map((object) => JSON.stringify(object))].join('\n---\n');

/** Starts a driver with a socket in the registry of the root directory. */
async function startDriver(
  {rootDir}: Testbed,
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

const stored = async ({rootDir}: Testbed): Promise<readonly string[]> =>
  (await readdir(join(rootDir, 'kcri/resource-claims')).catch(() => [])).filter((name) =>
    name.endsWith('.json'),
  );

test('a pod gets the device of its claim, which is released when the pod is deleted', async () => {
  const testbed = await createTestbed();
  const driver = await startDriver(testbed);
  const file = await testbed.write('web.yaml', documents(aPod('web'), CLASS, SLICE, TEMPLATE));
  expect(await testbed.run(['sync', file, '--strict'])).toMatchObject({exitCode: 0, stderr: ''});
  const [[claim] = []] = driver.callsTo('NodePrepareResources');
  expect(claim?.name).toMatch(/^web-gpu-[a-z0-9]{5}$/);
  expect(testbed.runtime.containers.map(({config}) => config.CDIDevices)).toEqual([
    [{name: `example.com/dra=${claim?.name}`}],
  ]);
  const [name = ''] = await stored(testbed);
  const record: unknown = JSON.parse(
    await readFile(join(testbed.rootDir, 'kcri/resource-claims', name), 'utf8'),
  );
  expect(record).toMatchObject({
    manager: 'sync',
    claim: {
      metadata: {uid: claim?.uid, annotations: {'resource.kubernetes.io/pod-claim-name': 'gpu'}},
      status: {
        allocation: {devices: {results: [{request: 'req', driver: DRIVER, pool: 'pool', device: 'dev'}]}},
      },
    },
  });

  const other = await testbed.write('other.yaml', documents(aPod('other'), CLASS, SLICE, TEMPLATE));
  const waiting = await testbed.run(['sync', other, '--timeout', '1s']);
  expect(waiting.exitCode).not.toBe(0);
  expect(waiting.stderr).toContain('1 device on this node, 1 allocated already');
  expect(await stored(testbed)).toEqual([name]);

  expect(await testbed.run(['delete', 'web'])).toMatchObject({exitCode: 0});
  expect(driver.callsTo('NodeUnprepareResources')).toEqual([[claim]]);
  expect(await stored(testbed)).toEqual([]);
  expect(await testbed.run(['sync', other])).toMatchObject({exitCode: 0});
  await driver.stop();
});

// Proves: PodResourceClaim.resourceClaimName, ResourceClaim.request
test('containers share a claim of the manifests, and have the devices of their requests', async () => {
  const testbed = await createTestbed();
  const driver = await startDriver(testbed);
  const uses = (name: string, request: string): object =>
    aContainerSpec(name, {resources: {claims: [{name: 'gpu', request}]}});
  const pod = aManifest({
    containers: [uses('main', 'req'), uses('side', 'spare')],
    resourceClaims: [{name: 'gpu', resourceClaimName: 'shared'}],
  });
  const exactly = {deviceClassName: 'gpu'};
  const claim = {
    apiVersion: 'resource.k8s.io/v1beta1',
    kind: 'ResourceClaim',
    metadata: {name: 'shared'},
    spec: {
      devices: {
        requests: [
          {name: 'req', ...exactly},
          {name: 'spare', ...exactly},
        ],
      },
    },
  };
  const devices = [{name: 'dev'}, {name: 'other'}];
  const slice = {...SLICE, spec: {...SLICE.spec, devices}};
  const file = await testbed.write('web.yaml', documents(pod, CLASS, slice, claim));
  expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
  expect(testbed.runtime.containers.map(({config}) => [config.metadata?.name, config.CDIDevices])).toEqual([
    ['main', [{name: 'example.com/dra=shared'}]],
    ['side', []],
  ]);
  await driver.stop();
});
