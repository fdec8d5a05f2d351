import {rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {KubeletMetricsRegistry} from '../../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {parseExposition} from '../../managers/metrics/parse-exposition.js';
import {aPodSpec, CLAIMS, DRIVER, DraTestbed, uidOf} from './dra-testbed.js';

const NO_CLAIMS = '"ClaimInfoStateList":[]';

// Proves: PodSpec.resourceClaims, ResourceRequirements.claims
test.each(['v1', 'v1beta1'] as const)(
  'a claim is prepared by a driver with %s, and unprepared when its pod has stopped',
  async (version) => {
    const metrics = new KubeletMetricsRegistry(systemClock, 'node');
    await using testbed = await DraTestbed.start({metrics});
    const {driver, registrar} = await testbed.plug({version});
    expect(registrar.statuses).toEqual([{plugin_registered: true, error: ''}]);
    const {metadata} = testbed.createClaim('gpu');
    testbed.createPod('web', ['gpu']);
    expect(await testbed.devicesOf('web')).toEqual(['example.com/dra=gpu']);
    const claim = {namespace: 'default', uid: metadata.uid, name: 'gpu'};
    expect(driver.calls).toEqual([{method: 'NodePrepareResources', claims: [claim]}]);
    expect(testbed.containerStatus('web')).toMatchObject({
      resources: {claims: [{name: 'gpu'}]},
      allocatedResourcesStatus: [
        {name: 'claim:gpu', resources: [{resourceID: 'example.com/dra=gpu', health: 'Unknown'}]},
      ],
    });
    await testbed.deletePod('web');
    expect(driver.callsTo('NodeUnprepareResources')).toEqual([[claim]]);
    expect(await testbed.storedState()).toContain(NO_CLAIMS);
    const samples = parseExposition(await metrics.metricsText([]));
    const valuesOf = (name: string) =>
      samples.filter((sample) => sample.name === name).map(({labels, value}) => [labels, value]);
    expect(valuesOf('dra_operations_duration_seconds_count')).toEqual([
      [{operation_name: 'PrepareResources', is_error: 'false'}, 1],
      [{operation_name: 'UnprepareResources', is_error: 'false'}, expect.any(Number)],
    ]);
    const service = `/k8s.io.kubelet.pkg.apis.dra.${version}.DRAPlugin`;
    expect(valuesOf('dra_grpc_operations_duration_seconds_count')).toEqual(
      ['NodePrepareResources', 'NodeUnprepareResources'].map((rpc) => [
        {driver_name: DRIVER, method_name: `${service}/${rpc}`, grpc_status_code: 'OK'},
        1,
      ]),
    );
    expect(valuesOf('dra_resource_claims_in_use')).toEqual([[{driver_name: '<any>'}, 0]]);
  },
);

test('a pod without claims leaves an empty list of claims', async () => {
  await using testbed = await DraTestbed.start();
  await testbed.daemon.until('a state is stored', async () => (await testbed.storedState()) !== '');
  expect(await testbed.storedState()).toContain('"ClaimInfoStateList":null');
  testbed.createPod('web', []);
  await testbed.daemon.until('it is stored', async () => (await testbed.storedState()).includes(NO_CLAIMS));
});

test('a claim with admin access is prepared as others are', async () => {
  await using testbed = await DraTestbed.start();
  await testbed.plug();
  testbed.createClaim('gpu', [DRIVER], {adminAccess: true});
  testbed.createPod('web', ['gpu']);
  expect(await testbed.devicesOf('web')).toEqual(['example.com/dra=gpu']);
});

test('a claim of two pods is prepared once, and unprepared after the last of them', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug();
  testbed.createClaim('gpu');
  testbed.createPod('one', ['gpu']);
  expect(await testbed.devicesOf('one')).toEqual(['example.com/dra=gpu']);
  testbed.createPod('two', ['gpu']);
  expect(await testbed.devicesOf('two')).toEqual(['example.com/dra=gpu']);
  await testbed.deletePod('one');
  expect(driver.calls.map(({method}) => method)).toEqual(['NodePrepareResources']);
  await testbed.deletePod('two');
  expect(driver.callsTo('NodeUnprepareResources')).toHaveLength(1);
});

test('a claim of two drivers is prepared by both, and a container has the devices of both', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug();
  const {driver: other} = await testbed.plug({
    name: 'other.example.com',
    answers: {
      NodePrepareResources: (claims) => ({
        claims: claims.map(({uid}) => ({
          key: uid,
          value: {devices: [{pool_name: 'p', device_name: 'd', cdi_device_ids: ['other.example.com/x=1']}]},
        })),
      }),
    },
  });
  testbed.createClaim('gpu', [DRIVER, 'other.example.com']);
  testbed.createPod('web', ['gpu']);
  expect(await testbed.devicesOf('web')).toEqual(['example.com/dra=gpu', 'other.example.com/x=1']);
  await testbed.deletePod('web');
  for (const each of [driver, other]) expect(each.callsTo('NodeUnprepareResources')).toHaveLength(1);
});

test('an entry for which no claim was created needs none, and a claim from a template must belong to the pod', async () => {
  await using testbed = await DraTestbed.start();
  const {api} = testbed.cluster;
  const {driver} = await testbed.plug();
  const entry = {name: 'r', resourceClaimTemplateName: 'template'};
  const create = (name: string, status: object) =>
    api.createPod({
      metadata: {name, uid: uidOf(name)},
      spec: aPodSpec([entry]),
      status: {phase: 'Pending', ...status},
    });
  create('none', {resourceClaimStatuses: [{name: 'r'}]});
  expect(await testbed.devicesOf('none')).toEqual([]);
  create('wait', {});
  expect(await testbed.failureOf('wait')).toBe('pod "default/wait": ResourceClaim not created yet');

  const claim = testbed.createClaim('made');
  create('alien', {resourceClaimStatuses: [{name: 'r', resourceClaimName: 'made'}]});
  expect(await testbed.failureOf('alien')).toBe(
    'ResourceClaim default/made was not created for Pod default/alien (Pod is not owner)',
  );
  const owner = {apiVersion: 'v1', kind: 'Pod', name: 'own', uid: uidOf('own'), controller: true};
  api.storage.put(`${CLAIMS}/made`, {
    ...claim,
    metadata: {...claim.metadata, ownerReferences: [owner]},
    status: {...(claim['status'] as object), reservedFor: [{resource: 'pods', name: 'own', uid: owner.uid}]},
  });
  create('own', {resourceClaimStatuses: [{name: 'r', resourceClaimName: 'made'}]});
  expect(await testbed.devicesOf('own')).toEqual(['example.com/dra=made']);
  expect(driver.calls).toHaveLength(1);
});

test('a container has the devices of the claim that the scheduler has created for its extended resources', async () => {
  await using testbed = await DraTestbed.start();
  await testbed.plug();
  const {api} = testbed.cluster;
  const uid = uidOf('web');
  const claim = testbed.createClaim('made');
  api.storage.put(`${CLAIMS}/made`, {
    ...claim,
    status: {...(claim['status'] as object), reservedFor: [{resource: 'pods', name: 'web', uid}]},
  });
  const resources = {requests: {'example.com/gpu': '1'}, limits: {'example.com/gpu': '1'}};
  const mapping = {containerName: 'main', resourceName: 'example.com/gpu', requestName: 'req'};
  api.createPod({
    metadata: {name: 'web', uid},
    spec: {...aPodSpec([]), containers: [{name: 'main', image: BUSYBOX, resources}]},
    status: {
      phase: 'Pending',
      extendedResourceClaimStatus: {resourceClaimName: 'made', requestMappings: [mapping]},
    },
  });
  expect(await testbed.devicesOf('web')).toEqual(['example.com/dra=made']);
});

test.each<[string, (testbed: DraTestbed) => void, string]>([
  [
    'that is not reserved for it',
    (testbed) => {
      testbed.createClaim('gpu');
      testbed.createPod('web', ['gpu'], false);
    },
    `pod web (${uidOf('web')}) is not allowed to use ResourceClaim gpu (<UID>)`,
  ],
  [
    'that is not allocated',
    (testbed) => {
      testbed.cluster.api.create(`${CLAIMS}/gpu`, {apiVersion: 'resource.k8s.io/v1', kind: 'ResourceClaim'});
      testbed.createPod('web', ['gpu']);
    },
    'ResourceClaim gpu: not allocated',
  ],
  [
    'that does not exist',
    (testbed) => {
      testbed.createPod('web', ['gpu']);
    },
    'fetch ResourceClaim gpu: resourceclaims "gpu" not found',
  ],
  [
    'whose driver has not registered',
    (testbed) => {
      testbed.createClaim('gpu', ['away.example.com']);
      testbed.createPod('web', ['gpu']);
    },
    'DRA driver away.example.com is not registered',
  ],
])('a pod with a claim %s waits, and can be deleted', async (_title, prepare, problem) => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug();
  prepare(testbed);
  const failure = await testbed.failureOf('web');
  expect(failure.replace(/\(\S{36}\)$/, '(<UID>)')).toBe(problem);
  await testbed.deletePod('web');
  expect(driver.calls).toEqual([]);
  expect(testbed.daemon.fake.callsTo('RunPodSandbox')).toEqual([]);
});

test('claims are released by the next kubelet: of a pod that runs, and of one that was deleted meanwhile', async () => {
  await using testbed = await DraTestbed.start();
  const {driver} = await testbed.plug();
  for (const name of ['one', 'two']) {
    testbed.createClaim(name);
    testbed.createPod(name, [name]);
    await testbed.devicesOf(name);
  }
  const before = await testbed.storedState();
  await testbed.daemon.stop();
  testbed.cluster.api.deletePod('two', 0);
  testbed.daemon.run();
  await testbed.daemon.until('the claim of the deleted pod is released', () =>
    driver.callsTo('NodeUnprepareResources').some(([claim]) => claim?.name === 'two'),
  );
  expect(driver.callsTo('NodePrepareResources')).toHaveLength(2);
  expect(before).toContain('"ClaimName":"one"');
  expect(testbed.containerStatus('one')).toMatchObject({allocatedResourcesStatus: [{name: 'claim:one'}]});
  await testbed.deletePod('one');
  expect(
    driver
      .callsTo('NodeUnprepareResources')
      .flat()
      .map(({name}) => name),
  ).toEqual(['two', 'one']);
  await testbed.daemon.until('nothing is stored', async () =>
    (await testbed.storedState()).includes(NO_CLAIMS),
  );
});

test('a new claim under the name of one that is still in use is not prepared', async () => {
  await using testbed = await DraTestbed.start();
  await testbed.plug({answers: {NodeUnprepareResources: () => ({claims: []})}});
  const {metadata} = testbed.createClaim('gpu');
  testbed.createPod('one', ['gpu']);
  await testbed.devicesOf('one');
  testbed.cluster.api.storage.delete(`${CLAIMS}/gpu`);
  testbed.createClaim('gpu');
  testbed.createPod('two', ['gpu']);
  expect(await testbed.failureOf('two')).toBe(
    `old ResourceClaim with same name gpu and different UID ${metadata.uid} still exists (previous pod force-deleted?!)`,
  );
});

test('a kubelet does not start with a state file that cannot be read', async () => {
  await using testbed = await DraTestbed.start();
  await testbed.daemon.until('the state is stored', async () =>
    (await testbed.storedState()).includes('"ClaimInfoStateList":null'),
  );
  await testbed.daemon.stop();
  const path = join(testbed.daemon.rootDir, 'dra_manager_state');
  await writeFile(path, '{"Data":"{}","Checksum":1}');
  testbed.daemon.run();
  await expect(testbed.daemon.ended).rejects.toThrow(
    'create ResourceClaim cache: GetOrCreate() on checkpoint state: failed to get checkpoint dra_manager_state: checkpoint is corrupted',
  );
  await rm(path);
  testbed.daemon.run(); // for the end of the testbed
  await testbed.daemon.until('a new state is stored', async () => (await testbed.storedState()) !== '');
});
