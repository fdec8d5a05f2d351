import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Container} from '../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {parsePodResourceCheckpoint} from '../../../../src/kubelet/pods/allocation/pod-resource-checkpoint.js';
import {aContainerSpec, aManifest, list} from '../../../commands/command-testbed.js';
import {anImage, BUSYBOX} from '../../../fakes/runtime-builders.js';
import {DaemonTestbed, NOTHING_REMAINS} from '../daemon-testbed.js';

const SMALL = {requests: {cpu: '100m', memory: '64Mi'}, limits: {cpu: '200m', memory: '128Mi'}};
const LARGE = {requests: {cpu: '200m', memory: '96Mi'}, limits: {cpu: '400m', memory: '256Mi'}};
const MI = 1024n * 1024n;

/** Returns a manifest with an explicit UID, so that its content may change. */
function manifest(resources: ResourceRequirements, more: Partial<Container> = {}, name = 'web'): string {
  return aManifest({
    name,
    metadata: {uid: `uid-of-${name}`},
    terminationGracePeriodSeconds: 0,
    containers: [aContainerSpec(name, {resources, ...more})],
  });
}

async function startPod(text = manifest(SMALL)): Promise<DaemonTestbed> {
  const images = [anImage(), anImage({name: 'other:2'})];
  const testbed = await DaemonTestbed.start({runtime: {images}});
  await testbed.put('web.json', text);
  await testbed.until('it runs', () => testbed.running.join() === 'web-goldennode/web/0');
  return testbed;
}

/** Returns the amounts of all resize calls in order. */
function resizes(testbed: DaemonTestbed): readonly string[] {
  return testbed.fake.calls
    .filter(({method}) => method.startsWith('Update'))
    .map(({method, request}) => {
      const {linux, resources} = request as Record<
        'linux' | 'resources',
        Record<string, unknown> | undefined
      >;
      const {cpu_shares: shares, cpu_quota: quota, memory_limit_in_bytes: memory} = linux ?? resources ?? {};
      const what = method === 'UpdateContainerResources' ? 'container' : 'pod';
      const mebibytes = BigInt(String(memory)) / MI;
      return `${what} shares ${String(shares)} quota ${String(quota)} memory ${mebibytes}Mi`;
    });
}

const reasons = (testbed: DaemonTestbed): readonly string[] =>
  testbed.events.map(({reason}) => reason).filter((reason) => reason.startsWith('Resize'));

const has = (testbed: DaemonTestbed, reason: string): boolean => reasons(testbed).includes(reason);

function statusOf(testbed: DaemonTestbed, name = 'web'): PodStatus {
  return testbed.view.pods().find(({metadata}) => metadata.name === `${name}-goldennode`)?.status ?? {};
}

const resizeConditions = (testbed: DaemonTestbed): readonly unknown[] =>
  (statusOf(testbed).conditions ?? []).filter(({type}) => type.startsWith('PodResize'));

test('a resize to more resources updates the pod cgroup before the container', async () => {
  await using testbed = await startPod();

  await testbed.put('web.json', manifest(LARGE));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(resizes(testbed)).toEqual([
    'pod shares 102 quota 20000 memory 256Mi',
    'container shares 102 quota 20000 memory 256Mi',
    'pod shares 102 quota 40000 memory 256Mi',
    'pod shares 204 quota 40000 memory 256Mi',
    'container shares 204 quota 40000 memory 256Mi',
  ]);
  expect(reasons(testbed)).toEqual(['ResizeStarted', 'ResizeCompleted']);
  expect(testbed.events.find(({reason}) => reason === 'ResizeStarted')?.message).toBe(
    'Pod resize started: {"containers":[{"name":"web","resources":{"limits":{"cpu":"400m","memory":"256Mi"},"requests":{"cpu":"200m","memory":"96Mi"}}}],"generation":0}',
  );
  expect(testbed.running).toEqual(['web-goldennode/web/0']);
  expect(statusOf(testbed).containerStatuses?.[0]).toMatchObject({
    restartCount: 0,
    resources: LARGE,
    allocatedResources: LARGE.requests,
  });
  expect(resizeConditions(testbed)).toEqual([]);
});

test('a resize to fewer resources updates the container before the pod cgroup', async () => {
  await using testbed = await startPod(manifest(LARGE));

  await testbed.put('web.json', manifest(SMALL));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(resizes(testbed)).toEqual([
    'container shares 204 quota 40000 memory 128Mi',
    'pod shares 204 quota 40000 memory 128Mi',
    'container shares 102 quota 20000 memory 128Mi',
    'pod shares 102 quota 40000 memory 128Mi',
    'pod shares 102 quota 20000 memory 128Mi',
  ]);
  expect(testbed.running).toEqual(['web-goldennode/web/0']);
});

test('a resize of CPU does not update memory', async () => {
  await using testbed = await startPod();

  await testbed.put('web.json', manifest({...SMALL, limits: {...SMALL.limits, cpu: '300m'}}));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(resizes(testbed)).toEqual([
    'pod shares 102 quota 30000 memory 128Mi',
    'container shares 102 quota 30000 memory 128Mi',
  ]);
});

test('a container with resizePolicy RestartContainer for memory is restarted', async () => {
  const resizePolicy = [{resourceName: 'memory', restartPolicy: 'RestartContainer' as const}];
  await using testbed = await startPod(manifest(SMALL, {resizePolicy}));

  await testbed.put('web.json', manifest(LARGE, {resizePolicy}));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(testbed.running).toEqual(['web-goldennode/web/1']);
  expect(testbed.events.map(({message}) => message)).toContain('Container web resize requires restart');
  expect(resizes(testbed)).toEqual([
    'pod shares 102 quota 20000 memory 256Mi',
    'pod shares 102 quota 40000 memory 256Mi',
    'pod shares 204 quota 40000 memory 256Mi',
  ]);
  const [newest] = testbed.ownContainers.filter(({state}) => state === 'CONTAINER_RUNNING');
  expect(newest?.config.linux?.resources?.memoryLimitInBytes).toBe(String(256n * MI));
});

test('the pod cgroup is updated before a sidecar is restarted with more resources', async () => {
  const pod = (cpu: string): string => {
    const text = JSON.parse(manifest(SMALL)) as {spec: {initContainers?: readonly Container[]}};
    const side: Container = {
      name: 'side',
      image: BUSYBOX,
      imagePullPolicy: 'IfNotPresent',
      restartPolicy: 'Always',
      resizePolicy: [{resourceName: 'cpu', restartPolicy: 'RestartContainer'}],
      resources: {requests: {cpu: '10m', memory: '16Mi'}, limits: {cpu, memory: '16Mi'}},
    };
    return JSON.stringify({...text, spec: {...text.spec, initContainers: [side]}});
  };
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.json', pod('100m'));
  await testbed.until('it runs', () => testbed.running.length === 2);
  const before = testbed.fake.calls.length;

  await testbed.put('web.json', pod('1'));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(testbed.running).toEqual(['web-goldennode/side/1', 'web-goldennode/web/0']);
  const done = testbed.fake.calls
    .slice(before)
    .map(({method}) => method)
    .filter((method) => /^(Update|Stop|Create|Start)/.test(method));
  expect(done).toEqual(['StopContainer', 'UpdatePodSandboxResources', 'CreateContainer', 'StartContainer']);
});

test('a running init container is resized in place, one that has completed is not', async () => {
  const pod = (cpu: string): string => {
    const text = JSON.parse(manifest(SMALL)) as {spec: object};
    const resources = {requests: {cpu, memory: '16Mi'}, limits: {cpu, memory: '16Mi'}};
    const initContainers = [{name: 'init', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', resources}];
    return JSON.stringify({...text, spec: {...text.spec, initContainers}});
  };
  await using testbed = await DaemonTestbed.start();
  await testbed.put('web.json', pod('100m'));
  await testbed.until('it runs', () => testbed.running.join() === 'web-goldennode/init/0');

  await testbed.put('web.json', pod('500m'));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(testbed.running).toEqual(['web-goldennode/init/0']);
  expect(resizes(testbed)).toEqual([
    'pod shares 102 quota 50000 memory 128Mi',
    'pod shares 512 quota 50000 memory 128Mi',
    'container shares 512 quota 50000 memory 16Mi',
  ]);
  expect(statusOf(testbed).initContainerStatuses?.[0]?.allocatedResources?.['cpu']).toBe('500m');

  testbed.fake.exitContainer(testbed.ownContainers[0]?.id ?? '', 0);
  await testbed.until('the pod runs', () => testbed.running.join() === 'web-goldennode/web/0');
  const before = testbed.fake.callsTo('UpdateContainerResources').length;
  await testbed.put('web.json', pod('600m'));
  await testbed.until('it is granted', () => {
    const [init] = statusOf(testbed).initContainerStatuses ?? [];
    return init?.allocatedResources?.['cpu'] === '600m';
  });
  expect(testbed.fake.callsTo('UpdateContainerResources')).toHaveLength(before);
  expect(resizeConditions(testbed)).toEqual([]);
});

test('a resize without free resources is Deferred until another pod is removed', async () => {
  await using testbed = await startPod();
  await testbed.put('other.json', manifest({requests: {cpu: '1500m'}}, {}, 'other'));
  await testbed.until('both run', () => testbed.running.length === 2);
  const large = {requests: {cpu: '1', memory: '64Mi'}, limits: {cpu: '1', memory: '128Mi'}};

  await testbed.put('web.json', manifest(large));
  await testbed.until('it waits', () => resizeConditions(testbed).length > 0);

  const message = "Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000";
  expect(resizeConditions(testbed)).toEqual([
    {
      type: 'PodResizePending',
      status: 'True',
      reason: 'Deferred',
      message,
      lastProbeTime: expect.any(String) as unknown,
      lastTransitionTime: expect.any(String) as unknown,
    },
  ]);
  expect(testbed.events.find(({reason}) => reason === 'ResizeDeferred')).toMatchObject({
    type: 'Warning',
    message: expect.stringMatching(
      /^Pod resize OutOfcpu: \{.*"generation":0,"error":"Node didn't .*"\}$/,
    ) as unknown,
  });
  expect(statusOf(testbed).containerStatuses?.[0]?.allocatedResources).toEqual(SMALL.requests);
  expect(resizes(testbed)).toEqual([]);

  await testbed.remove('other.json');
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
  expect(reasons(testbed)).toEqual(['ResizeDeferred', 'ResizeStarted', 'ResizeCompleted']);
  expect(resizeConditions(testbed)).toEqual([]);
  expect(testbed.running).toEqual(['web-goldennode/web/0']);
});

test.each([
  [
    'to more than the node has',
    {requests: {cpu: '3', memory: '64Mi'}, limits: {cpu: '3', memory: '128Mi'}},
    "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000",
  ],
  [
    'to another QoS class',
    {requests: SMALL.limits, limits: SMALL.limits},
    'Pod QOS Class may not change as a result of resizing',
  ],
  ['that removes a limit', {...SMALL, limits: {cpu: '200m'}}, 'resource limits cannot be removed'],
])(
  'a resize %s is Infeasible and the pod keeps running; a later feasible resize succeeds',
  async (_, wanted, message) => {
    await using testbed = await startPod();

    await testbed.put('web.json', manifest(wanted));
    await testbed.until('it is rejected', () => has(testbed, 'ResizeInfeasible'));
    await testbed.until('the status shows it', () => resizeConditions(testbed).length > 0);
    expect(resizeConditions(testbed)).toMatchObject([{reason: 'Infeasible', message}]);
    expect(testbed.running).toEqual(['web-goldennode/web/0']);
    expect(resizes(testbed)).toEqual([]);

    await testbed.put('web.json', manifest(LARGE));
    await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
    expect(resizeConditions(testbed)).toEqual([]);
  },
);

test('a failed UpdateContainerResources is retried with back-off, and the condition has its error', async () => {
  await using testbed = await startPod();
  const message = 'no update today';
  testbed.fake.injectError('UpdateContainerResources', {code: 'UNKNOWN', message, times: 3});

  await testbed.put('web.json', manifest(LARGE));
  await testbed.until(
    'it has failed',
    () => resizeConditions(testbed).length > 0 && has(testbed, 'ResizeError'),
  );
  await testbed.until('the status shows it', () =>
    JSON.stringify(resizeConditions(testbed)).includes(message),
  );
  expect(resizeConditions(testbed)).toMatchObject([
    {type: 'PodResizeInProgress', reason: 'Error', message: expect.stringContaining(message) as unknown},
  ]);

  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
  expect(reasons(testbed)).toEqual(['ResizeStarted', 'ResizeError', 'ResizeCompleted']);
  const tries = testbed.fake.calls.filter(({method}) => method === 'UpdateContainerResources');
  expect(tries.map(({code}) => code)).toEqual(['Unknown', 'Unknown', 'Unknown', 'OK', 'OK']);
  expect(testbed.running).toEqual(['web-goldennode/web/0']);
});

test('UpdatePodSandboxResources fails the resize unless the runtime does not implement it', async () => {
  await using testbed = await startPod();
  testbed.fake.injectError('UpdatePodSandboxResources', {code: 'UNKNOWN', message: 'too much', times: 1});
  await testbed.put('web.json', manifest(LARGE));
  await testbed.until('it has failed', () => has(testbed, 'ResizeError'));
  expect(testbed.events.find(({reason}) => reason === 'ResizeError')?.message).toMatch(
    /^Pod resize error: .*"error":"failed to notify runtime for UpdatePodSandboxResources \(resource=memory\); resize rejected: .*too much/,
  );

  testbed.fake.injectError('UpdatePodSandboxResources', {code: 'UNIMPLEMENTED', message: 'unknown method'});
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
  expect(statusOf(testbed).containerStatuses?.[0]).toMatchObject({restartCount: 0, resources: LARGE});
});

test('a memory limit below the current usage is rejected', async () => {
  await using testbed = await startPod();

  await testbed.put(
    'web.json',
    manifest({requests: {...SMALL.requests, memory: '4Mi'}, limits: {...SMALL.limits, memory: '8Mi'}}),
  );
  await testbed.until('it has failed', () => has(testbed, 'ResizeError'));

  expect(resizes(testbed)).toEqual([]);
  expect(testbed.errors.join()).toContain(
    'cannot decrease memory limits: attempting to set container \\"web\\" memory limit (8388608) below current usage (10485760)',
  );
  await testbed.put('web.json', manifest(SMALL));
  await testbed.until('it is reverted', () => has(testbed, 'ResizeCompleted'));
});

test('an interrupted resize is completed by the next daemon', async () => {
  await using testbed = await startPod();
  testbed.fake.injectError('UpdateContainerResources', {code: 'UNKNOWN', message: 'not yet'});
  await testbed.put('web.json', manifest(LARGE));
  await testbed.until('it has failed', () => has(testbed, 'ResizeError'));
  await testbed.stop();
  testbed.fake.clearFaults();

  testbed.run();
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));

  expect(statusOf(testbed).containerStatuses?.[0]).toMatchObject({restartCount: 0, resources: LARGE});
  expect(testbed.running).toEqual(['web-goldennode/web/0']);
});

test('a manifest edited while no daemon ran is resized once by the next daemon', async () => {
  await using testbed = await startPod();
  await testbed.stop();
  await testbed.put('web.json', manifest(LARGE));

  testbed.run();
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
  const sent = resizes(testbed).length;
  await testbed.stop();
  testbed.run();
  await testbed.clock.sleep(120_000);

  expect(resizes(testbed)).toHaveLength(sent);
  expect(reasons(testbed)).toEqual(['ResizeStarted', 'ResizeCompleted']);
});

test('a resize together with another image restarts the container with the new resources', async () => {
  await using testbed = await startPod();

  await testbed.put('web.json', manifest(LARGE, {image: 'other:2'}));
  await testbed.until('it is restarted', () => testbed.running.join() === 'web-goldennode/web/1');

  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
  expect(statusOf(testbed).containerStatuses?.[0]).toMatchObject({restartCount: 1, resources: LARGE});
});

test('a removed pod leaves the checkpoints with the next change, as in a kubelet', async () => {
  await using testbed = await startPod();
  await testbed.put('web.json', manifest(LARGE));
  await testbed.until('it is resized', () => has(testbed, 'ResizeCompleted'));
  const files = ['allocated', 'actuated'].map((what) => join(testbed.rootDir, `${what}_pods_state`));
  for (const file of files) {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect([...parsePodResourceCheckpoint(await readFile(file, 'utf8'))!.keys()]).toEqual(['uid-of-web']);
  }

  await testbed.remove('web.json');
  await testbed.untilAllRemoved();
  await testbed.put('other.json', manifest(SMALL, {}, 'other'));
  await testbed.until('the other runs', () => testbed.running.join() === 'other-goldennode/other/0');
  for (const file of files)
    expect([...parsePodResourceCheckpoint(await readFile(file, 'utf8'))!.keys()]).toEqual(['uid-of-other']);

  await testbed.remove('other.json');
  await testbed.untilAllRemoved();
  expect(await testbed.listRemains()).toEqual(NOTHING_REMAINS);
  expect(await list(join(testbed.rootDir, 'kcri/resources'))).toEqual([]);
  expect(testbed.callsToForeignPod).toEqual([]);
});
