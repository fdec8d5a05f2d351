import {expect, test} from 'vitest';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

const cpu = (amount: string): object => ({requests: {cpu: amount}, limits: {cpu: amount}});
const containers = (amount: string): readonly object[] => [
  {name: 'main', image: BUSYBOX, resources: cpu(amount)},
];

/** Changes a pod as the resize subresource does. */
function resize({api}: ClusterTestbed, name: string, amount: string): void {
  const pod = api.pod(name)!;
  const spec = {...(pod['spec'] as object), containers: containers(amount)};
  const metadata = {...pod.metadata, generation: (pod.metadata.generation ?? 0) + 1};
  api.storage.put(`/api/v1/namespaces/default/pods/${name}`, {...pod, metadata, spec});
}

function conditionOf(testbed: ClusterTestbed, name: string, type: string): object | undefined {
  return testbed.status(name).conditions?.find((condition) => condition.type === type);
}

const reasons = ({daemon}: ClusterTestbed): readonly string[] => daemon.events.map(({reason}) => reason);

test('a pod that is resized in the API server gets other resources without a restart', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web', {containers: containers('100m')});
  await testbed.untilPhase('web', 'Running');
  resize(testbed, 'web', '150m');
  await testbed.daemon.until('the resize is complete', () => reasons(testbed).includes('ResizeCompleted'));
  await testbed.daemon.until(
    'the resources are reported',
    () => testbed.status('web').containerStatuses?.[0]?.allocatedResources?.['cpu'] === '150m',
  );
  await testbed.daemon.until(
    'the condition is removed',
    () => conditionOf(testbed, 'web', 'PodResizeInProgress') === undefined,
  );
  expect(reasons(testbed)).toContain('ResizeStarted');
  expect(testbed.status('web').observedGeneration).toBe(2);
  expect(testbed.daemon.running).toEqual(['web/main/0']);
});

test('a resize that does not fit is deferred until another pod has ended', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web', {containers: containers('100m')});
  testbed.createPod('other', {containers: containers('1')});
  await testbed.untilPhase('web', 'Running');
  await testbed.untilPhase('other', 'Running');
  resize(testbed, 'web', '1500m');
  await testbed.daemon.until('the resize is deferred', () => reasons(testbed).includes('ResizeDeferred'));
  await testbed.daemon.until(
    'the condition is reported',
    () => conditionOf(testbed, 'web', 'PodResizePending') !== undefined,
  );
  expect(conditionOf(testbed, 'web', 'PodResizePending')).toMatchObject({
    status: 'True',
    reason: 'Deferred',
    observedGeneration: 2,
  });
  testbed.api.deletePod('other');
  await testbed.untilDeleted('other');
  await testbed.daemon.until('the resize is complete', () => reasons(testbed).includes('ResizeCompleted'));
  expect(testbed.daemon.running).toEqual(['web/main/0']);
});

test('a pod that ends has no resize conditions', async () => {
  await using testbed = await ClusterTestbed.start();
  const podPath = '/api/v1/namespaces/default/pods/web';
  testbed.createPod('web', {containers: containers('100m')}, {finalizers: ['example.com/hold']});
  await testbed.untilPhase('web', 'Running');
  resize(testbed, 'web', '100');
  await testbed.daemon.until(
    'the resize is rejected',
    () => conditionOf(testbed, 'web', 'PodResizePending') !== undefined,
  );
  testbed.api.deletePod('web');
  await testbed.daemon.until('it is deleted for good', () =>
    testbed.api.writes.includes(`DELETE ${podPath}`),
  );
  expect(testbed.status('web').phase).not.toBe('Running');
  expect(conditionOf(testbed, 'web', 'PodResizePending')).toBeUndefined();
});

test('a pod is ready to start containers while its image is pulled', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.daemon.fake.injectDelay('PullImage', 3_600_000);
  testbed.createPod('web', {containers: [{name: 'main', image: BUSYBOX, imagePullPolicy: 'Always'}]});
  await testbed.daemon.until('the sandbox is reported', () => {
    const {conditions = []} = testbed.status('web');
    return conditions.some(({type, status}) => type === 'PodReadyToStartContainers' && status === 'True');
  });
  expect(testbed.status('web')).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{state: {waiting: {reason: 'ContainerCreating'}}}],
  });
  expect(conditionOf(testbed, 'web', 'PodReadyToStartContainers')).toHaveProperty('observedGeneration');
});

test('a pod with a readiness gate is ready when a controller sets the condition, which stays', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  const conditionType = 'example.com/gate';
  testbed.createPod('web', {readinessGates: [{conditionType}]});
  await testbed.untilPhase('web', 'Running');
  expect(conditionOf(testbed, 'web', 'Ready')).toMatchObject({
    status: 'False',
    reason: 'ReadinessGatesNotReady',
    message: `corresponding condition of pod readiness gate "${conditionType}" does not exist.`,
  });
  const pod = api.pod('web')!;
  const conditions = [...(testbed.status('web').conditions ?? []), {type: conditionType, status: 'True'}];
  const status = {...testbed.status('web'), conditions};
  api.storage.put('/api/v1/namespaces/default/pods/web', {...pod, status});
  await daemon.until('the pod is ready', () => {
    const ready = conditionOf(testbed, 'web', 'Ready') as {readonly status: string};
    return ready.status === 'True';
  });
  expect(conditionOf(testbed, 'web', conditionType)).toMatchObject({status: 'True'});
});

test.each([30, 0])(
  'a pod with a finalizer and a grace period of %d s is deleted once and stays with its terminal phase',
  async (gracePeriodSeconds) => {
    await using testbed = await ClusterTestbed.start();
    const {api, daemon} = testbed;
    testbed.createPod('web', {}, {finalizers: ['example.com/hold']});
    await testbed.untilPhase('web', 'Running');
    api.deletePod('web', gracePeriodSeconds);
    const deletions = (): number => api.writes.filter((write) => /DELETE .*pods/.test(write)).length;
    await daemon.until('the pod is deleted', () => deletions() === 1);
    const end = daemon.clock.now() + 60_000;
    await daemon.until('a minute has passed', () => daemon.clock.now() > end);
    expect([deletions(), testbed.status('web').phase]).toEqual([1, 'Failed']);
  },
);

test('a pod past its active deadline fails', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web', {activeDeadlineSeconds: 5});
  await testbed.untilPhase('web', 'Failed');
  expect(testbed.status('web')).toMatchObject({
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  });
  expect(reasons(testbed)).toContain('DeadlineExceeded');
});

test('an image is pulled with the Secret of a pod of the API server', async () => {
  const auths = {'example.com': {username: 'u', password: 'p'}};
  await using testbed = await ClusterTestbed.start((api) => {
    api.create('/api/v1/namespaces/default/secrets/registry', {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/dockerconfigjson',
      data: {'.dockerconfigjson': Buffer.from(JSON.stringify({auths})).toString('base64')},
    });
  });
  testbed.createPod('web', {
    imagePullSecrets: [{name: 'registry'}],
    containers: [{name: 'main', image: 'example.com/app:1', imagePullPolicy: 'Always'}],
  });
  await testbed.daemon.until('the image is pulled', () =>
    testbed.daemon.fake.calls.some(({method}) => method === 'PullImage'),
  );
  const [pull] = testbed.daemon.fake.calls.filter(({method}) => method === 'PullImage');
  expect(pull?.request).toMatchObject({auth: {username: 'u', password: 'p'}});
});

test('the condition of a preempted pod has its generation', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('low', {priority: 1, containers: containers('1500m')}, {generation: 3});
  await testbed.untilPhase('low', 'Running');
  testbed.createPod('high', {priority: 2_000_000_000, containers: containers('1500m')});
  await testbed.untilPhase('low', 'Failed');
  expect(conditionOf(testbed, 'low', 'DisruptionTarget')).toMatchObject({
    reason: 'TerminationByKubelet',
    observedGeneration: 3,
  });
});

test('each sync reports that a DNS configuration exceeds the limits', async () => {
  await using testbed = await ClusterTestbed.start();
  const nameservers = ['192.0.2.7', '192.0.2.8', '192.0.2.9'];
  testbed.createPod('web', {dnsConfig: {nameservers}});
  await testbed.untilPhase('web', 'Running');
  expect(reasons(testbed).filter((reason) => reason === 'DNSConfigForming').length).toBeGreaterThan(1);
});
