import {stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {Container} from '../../../../src/api/types/v1-pod.js';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {list} from '../../../commands/pod-scene.js';
import {anImage, BUSYBOX} from '../../../fakes/runtime-builders.js';
import {DaemonTestbed, NOTHING_LEFT} from '../daemon-testbed.js';

const SMALL = {requests: {cpu: '100m', memory: '64Mi'}, limits: {cpu: '200m', memory: '128Mi'}};
const LARGE = {requests: {cpu: '200m', memory: '96Mi'}, limits: {cpu: '400m', memory: '256Mi'}};
const MI = 1024n * 1024n;

/** A manifest with a UID of its own, so that its content may change. */
function manifest(resources: ResourceRequirements, more: Partial<Container> = {}, name = 'web'): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name, uid: `uid-of-${name}`},
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [{name, image: BUSYBOX, imagePullPolicy: 'IfNotPresent', resources, ...more}],
    },
  });
}

async function aGround(text = manifest(SMALL)): Promise<DaemonTestbed> {
  const images = [anImage(), anImage({name: 'other:2'})];
  const ground = await DaemonTestbed.start({runtime: {images}});
  await ground.put('web.json', text);
  await ground.until('it runs', () => ground.running.join() === 'web-goldennode/web/0');
  return ground;
}

/** What was sent to resize, in order: the amounts of each call. */
function resizes(ground: DaemonTestbed): readonly string[] {
  return ground.fake.calls
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

const reasons = (ground: DaemonTestbed): readonly string[] =>
  ground.events.map(({reason}) => reason).filter((reason) => reason.startsWith('Resize'));

const has = (ground: DaemonTestbed, reason: string): boolean => reasons(ground).includes(reason);

function statusOf(ground: DaemonTestbed, name = 'web'): PodStatus {
  return ground.view.pods().find(({metadata}) => metadata.name === `${name}-goldennode`)?.status ?? {};
}

const resizeConditions = (ground: DaemonTestbed): readonly unknown[] =>
  (statusOf(ground).conditions ?? []).filter(({type}) => type.startsWith('PodResize'));

test('a pod grows in place: it first, then its container', async () => {
  await using ground = await aGround();

  await ground.put('web.json', manifest(LARGE));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  expect(resizes(ground)).toEqual([
    'pod shares 102 quota 20000 memory 256Mi',
    'container shares 102 quota 20000 memory 256Mi',
    'pod shares 102 quota 40000 memory 256Mi',
    'pod shares 204 quota 40000 memory 256Mi',
    'container shares 204 quota 40000 memory 256Mi',
  ]);
  expect(reasons(ground)).toEqual(['ResizeStarted', 'ResizeCompleted']);
  expect(ground.events.find(({reason}) => reason === 'ResizeStarted')?.message).toBe(
    'Pod resize started: {"containers":[{"name":"web","resources":{"limits":{"cpu":"400m","memory":"256Mi"},"requests":{"cpu":"200m","memory":"96Mi"}}}],"generation":0}',
  );
  expect(ground.running).toEqual(['web-goldennode/web/0']);
  expect(statusOf(ground).containerStatuses?.[0]).toMatchObject({
    restartCount: 0,
    resources: LARGE,
    allocatedResources: LARGE.requests,
  });
  expect(resizeConditions(ground)).toEqual([]);
});

test('a pod shrinks in place: its container first, then it', async () => {
  await using ground = await aGround(manifest(LARGE));

  await ground.put('web.json', manifest(SMALL));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  expect(resizes(ground)).toEqual([
    'container shares 204 quota 40000 memory 128Mi',
    'pod shares 204 quota 40000 memory 128Mi',
    'container shares 102 quota 20000 memory 128Mi',
    'pod shares 102 quota 40000 memory 128Mi',
    'pod shares 102 quota 20000 memory 128Mi',
  ]);
  expect(ground.running).toEqual(['web-goldennode/web/0']);
});

test('of CPU alone nothing is said of memory', async () => {
  await using ground = await aGround();

  await ground.put('web.json', manifest({...SMALL, limits: {...SMALL.limits, cpu: '300m'}}));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  expect(resizes(ground)).toEqual([
    'pod shares 102 quota 30000 memory 128Mi',
    'container shares 102 quota 30000 memory 128Mi',
  ]);
});

test('a container that says so is started anew for its memory, and no other', async () => {
  const resizePolicy = [{resourceName: 'memory', restartPolicy: 'RestartContainer' as const}];
  await using ground = await aGround(manifest(SMALL, {resizePolicy}));

  await ground.put('web.json', manifest(LARGE, {resizePolicy}));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  expect(ground.running).toEqual(['web-goldennode/web/1']);
  expect(ground.events.map(({message}) => message)).toContain('Container web resize requires restart');
  expect(resizes(ground)).toEqual([
    'pod shares 102 quota 20000 memory 256Mi',
    'pod shares 102 quota 40000 memory 256Mi',
    'pod shares 204 quota 40000 memory 256Mi',
  ]);
  const [newest] = ground.ownContainers.filter(({state}) => state === 'CONTAINER_RUNNING');
  expect(newest?.config.linux?.resources?.memoryLimitInBytes).toBe(String(256n * MI));
});

test('a sidecar that is started anew with more finds room in its pod', async () => {
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
  await using ground = await DaemonTestbed.start();
  await ground.put('web.json', pod('100m'));
  await ground.until('it runs', () => ground.running.length === 2);
  const before = ground.fake.calls.length;

  await ground.put('web.json', pod('1'));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  expect(ground.running).toEqual(['web-goldennode/side/1', 'web-goldennode/web/0']);
  const done = ground.fake.calls
    .slice(before)
    .map(({method}) => method)
    .filter((method) => /^(Update|Stop|Create|Start)/.test(method));
  expect(done).toEqual(['StopContainer', 'UpdatePodSandboxResources', 'CreateContainer', 'StartContainer']);
});

test('what there is no room for waits until another pod leaves', async () => {
  await using ground = await aGround();
  await ground.put('other.json', manifest({requests: {cpu: '1500m'}}, {}, 'other'));
  await ground.until('both run', () => ground.running.length === 2);
  const large = {requests: {cpu: '1', memory: '64Mi'}, limits: {cpu: '1', memory: '128Mi'}};

  await ground.put('web.json', manifest(large));
  await ground.until('it waits', () => resizeConditions(ground).length > 0);

  const message = "Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000";
  expect(resizeConditions(ground)).toEqual([
    {
      type: 'PodResizePending',
      status: 'True',
      reason: 'Deferred',
      message,
      lastTransitionTime: expect.any(String) as unknown,
    },
  ]);
  expect(ground.events.find(({reason}) => reason === 'ResizeDeferred')).toMatchObject({
    type: 'Warning',
    message: expect.stringMatching(
      /^Pod resize Deferred: \{.*"generation":0,"error":"Node didn't .*"\}$/,
    ) as unknown,
  });
  expect(statusOf(ground).containerStatuses?.[0]?.allocatedResources).toEqual(SMALL.requests);
  expect(resizes(ground)).toEqual([]);

  await ground.remove('other.json');
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));
  expect(reasons(ground)).toEqual(['ResizeDeferred', 'ResizeStarted', 'ResizeCompleted']);
  expect(resizeConditions(ground)).toEqual([]);
  expect(ground.running).toEqual(['web-goldennode/web/0']);
});

test.each([
  [
    'more than the node has',
    {requests: {cpu: '3', memory: '64Mi'}, limits: {cpu: '3', memory: '128Mi'}},
    "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000",
  ],
  [
    'another class',
    {requests: SMALL.limits, limits: SMALL.limits},
    'Pod QOS Class may not change as a result of resizing',
  ],
  ['no limit any more', {...SMALL, limits: {cpu: '200m'}}, 'resource limits cannot be removed'],
])('%s is never granted, and the pod runs on; what it can have is', async (_, wanted, message) => {
  await using ground = await aGround();

  await ground.put('web.json', manifest(wanted));
  await ground.until('it is refused', () => has(ground, 'ResizeInfeasible'));
  await ground.until('it is seen', () => resizeConditions(ground).length > 0);
  expect(resizeConditions(ground)).toMatchObject([{reason: 'Infeasible', message}]);
  expect(ground.running).toEqual(['web-goldennode/web/0']);
  expect(resizes(ground)).toEqual([]);

  await ground.put('web.json', manifest(LARGE));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));
  expect(resizeConditions(ground)).toEqual([]);
});

test('a runtime that refuses is asked again, later each time, and the condition says why', async () => {
  await using ground = await aGround();
  const message = 'no update today';
  ground.fake.injectError('UpdateContainerResources', {code: 'UNKNOWN', message, times: 3});

  await ground.put('web.json', manifest(LARGE));
  await ground.until(
    'it has failed',
    () => resizeConditions(ground).length > 0 && has(ground, 'ResizeError'),
  );
  await ground.until('it is seen', () => JSON.stringify(resizeConditions(ground)).includes(message));
  expect(resizeConditions(ground)).toMatchObject([
    {type: 'PodResizeInProgress', reason: 'Error', message: expect.stringContaining(message) as unknown},
  ]);

  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));
  expect(reasons(ground)).toEqual(['ResizeStarted', 'ResizeError', 'ResizeCompleted']);
  const tries = ground.fake.calls.filter(({method}) => method === 'UpdateContainerResources');
  expect(tries.map(({code}) => code)).toEqual(['Unknown', 'Unknown', 'Unknown', 'OK', 'OK']);
  expect(ground.running).toEqual(['web-goldennode/web/0']);
});

test('a runtime that refuses it for the pod is heeded, one that does not know that call is not', async () => {
  await using ground = await aGround();
  ground.fake.injectError('UpdatePodSandboxResources', {code: 'UNKNOWN', message: 'too much', times: 1});
  await ground.put('web.json', manifest(LARGE));
  await ground.until('it has failed', () => has(ground, 'ResizeError'));
  expect(ground.events.find(({reason}) => reason === 'ResizeError')?.message).toMatch(
    /^Pod resize error: .*"error":"failed to notify runtime for UpdatePodSandboxResources \(resource=memory\); resize rejected: .*too much/,
  );

  ground.fake.injectError('UpdatePodSandboxResources', {code: 'UNIMPLEMENTED', message: 'unknown method'});
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));
  expect(statusOf(ground).containerStatuses?.[0]).toMatchObject({restartCount: 0, resources: LARGE});
});

test('memory that is in use is not taken away', async () => {
  await using ground = await aGround();

  await ground.put(
    'web.json',
    manifest({requests: {...SMALL.requests, memory: '4Mi'}, limits: {...SMALL.limits, memory: '8Mi'}}),
  );
  await ground.until('it has failed', () => has(ground, 'ResizeError'));

  expect(resizes(ground)).toEqual([]);
  expect(ground.errors.join()).toContain(
    'cannot decrease memory limits: attempting to set container \\"web\\" memory limit (8388608) below current usage (10485760)',
  );
  await ground.put('web.json', manifest(SMALL));
  await ground.until('it is taken back', () => has(ground, 'ResizeCompleted'));
});

test('a daemon that ends in the middle is followed by one that goes on', async () => {
  await using ground = await aGround();
  ground.fake.injectError('UpdateContainerResources', {code: 'UNKNOWN', message: 'not yet'});
  await ground.put('web.json', manifest(LARGE));
  await ground.until('it has failed', () => has(ground, 'ResizeError'));
  await ground.stop();
  ground.fake.clearFaults();

  ground.run();
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  expect(statusOf(ground).containerStatuses?.[0]).toMatchObject({restartCount: 0, resources: LARGE});
  expect(ground.running).toEqual(['web-goldennode/web/0']);
});

test('what was edited while no daemon ran is resized by the next one, and nothing twice', async () => {
  await using ground = await aGround();
  await ground.stop();
  await ground.put('web.json', manifest(LARGE));

  ground.run();
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));
  const sent = resizes(ground).length;
  await ground.stop();
  ground.run();
  await ground.clock.sleep(120_000);

  expect(resizes(ground)).toHaveLength(sent);
  expect(reasons(ground)).toEqual(['ResizeStarted', 'ResizeCompleted']);
});

test('with another image its container begins anew, with what it was granted', async () => {
  await using ground = await aGround();

  await ground.put('web.json', manifest(LARGE, {image: 'other:2'}));
  await ground.until('it runs anew', () => ground.running.join() === 'web-goldennode/web/1');

  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));
  expect(statusOf(ground).containerStatuses?.[0]).toMatchObject({restartCount: 1, resources: LARGE});
});

test('a pod that was resized goes without a trace', async () => {
  await using ground = await aGround();
  await ground.put('web.json', manifest(LARGE));
  await ground.until('it is resized', () => has(ground, 'ResizeCompleted'));

  const file = join(ground.rootDir, 'resources', 'uid-of-web.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await ground.remove('web.json');
  await ground.untilNothingIsLeft();

  expect(await ground.listRemains()).toEqual(NOTHING_LEFT);
  expect(await list(join(ground.rootDir, 'resources'))).toEqual([]);
  expect(ground.foreignTouched).toEqual([]);
});
