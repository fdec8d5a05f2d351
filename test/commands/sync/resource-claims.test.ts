import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {aPod, CLASS, documents, DRIVER, SLICE, startDriver, stored, TEMPLATE} from '../claims-testbed.js';
import {aContainerSpec, aManifest, createTestbed} from '../command-testbed.js';

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
  const interrupt = new AbortController();
  const waiting = await testbed.run(['sync', other, '-o', 'json'], {
    signal: interrupt.signal,
    onStdout: (text) => {
      if (text.includes('1 device on this node, 1 allocated already'))
        interrupt.abort(new InterruptedError('SIGINT'));
    },
  });
  expect(waiting).toMatchObject({exitCode: 130});
  expect(await stored(testbed)).toEqual([name]);

  expect(await testbed.run(['delete', 'web'])).toMatchObject({exitCode: 0});
  expect(driver.callsTo('NodeUnprepareResources')).toEqual([[claim]]);
  expect(await stored(testbed)).toEqual([]);
  expect(await testbed.run(['sync', other])).toMatchObject({exitCode: 0});
  await driver.stop();
});

test.each([
  ['containerd', 'v1.6.20~ds1', undefined, 'update it to 1.7 or later with enable_cdi = true'],
  ['containerd', '1.7.2', undefined, undefined],
  ['containerd', '1.7.2', false, 'set enable_cdi = true in its configuration, and restart it'],
  ['containerd', 'v2.1.9', false, 'set enable_cdi = true in its configuration, and restart it'],
  ['containerd', 'v2.1.9', true, undefined],
  ['cri-o', '1.6.2', undefined, undefined],
])(
  'a runtime that ignores CDI devices is warned about: %s %s, enableCDI %s',
  async (runtimeName, runtimeVersion, enableCDI, remedy) => {
    const testbed = await createTestbed({runtimeName, runtimeVersion, runtimeConfig: {enableCDI}});
    const driver = await startDriver(testbed);
    const file = await testbed.write('web.yaml', documents(aPod('web'), CLASS, SLICE, TEMPLATE));
    const {stderr, exitCode} = await testbed.run(['sync', file]);
    expect(exitCode).toBe(0);
    const warnings = stderr.split('\n').filter((line) => line.includes('CDIDevicesIgnored'));
    const found = `default/web: CDIDevicesIgnored: containerd ${runtimeVersion} ignores the CDI devices example.com/dra=web-gpu-`;
    expect(warnings.map((line) => line.replace(/web-gpu-\w+/, 'web-gpu-'))).toEqual(
      remedy === undefined ? [] : [expect.stringContaining(`${found}: ${remedy}`)],
    );
    await driver.stop();
  },
);

test.each([
  [
    'an expression that CEL rejects',
    [{...TEMPLATE, ...withSelector('device.driver == ')}],
    /FailedScheduling: .*CEL compile error/,
  ],
  ['a template that is not in the manifests', [], /FailedScheduling: .*"one" not found/],
  ['a driver that does not run', [TEMPLATE], /FailedPrepareDynamicResources: .*dra\.example\.com/],
])(
  'sync without a time limit says once that a pod waits for its devices: %s',
  async (_why, templates, expected) => {
    const testbed = await createTestbed();
    const file = await testbed.write('web.yaml', documents(aPod('web'), CLASS, SLICE, ...templates));
    const interrupt = new AbortController();
    const {stderr, exitCode} = await testbed.run(['sync', file], {
      signal: interrupt.signal,
      onStderr: (text) => {
        if (text.includes('use --timeout to limit the wait')) interrupt.abort(new InterruptedError('SIGINT'));
      },
    });
    expect(stderr.match(new RegExp(expected, 'gm'))).toHaveLength(1);
    expect(stderr).toContain('use --timeout to limit the wait, or Ctrl-C to end it');
    expect(exitCode).toBe(130);
  },
);

/** Returns the spec of a template whose request has a selector. */
function withSelector(expression: string): object {
  const exactly = {deviceClassName: 'gpu', selectors: [{cel: {expression}}]};
  return {spec: {spec: {devices: {requests: [{name: 'req', exactly}]}}}};
}

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
