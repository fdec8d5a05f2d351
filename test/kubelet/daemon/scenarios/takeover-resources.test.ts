import {mkdir, readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {ResourceRequirements} from '../../../../src/api/types/v1-meta.js';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../../src/api/types/v1-status.js';
import {podUid} from '../../../../src/cri/index.js';
import {
  formatPodResourceCheckpoint,
  parsePodResourceCheckpoint,
} from '../../../../src/kubelet/pods/allocation/pod-resource-checkpoint.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed, type DaemonTestbedOptions} from '../daemon-testbed.js';

/*
 * Resizes across changes between a kubelet and kcri on one node: both keep what they have allocated and actuated in the same
 * files.
 */

/** Long enough for the first syncs and some rounds of housekeeping, in ms. */
const SETTLE_MS = 10_000;
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
const SMALL = {requests: {cpu: '100m', memory: '64Mi'}, limits: {cpu: '200m', memory: '128Mi'}};
const LARGE = {requests: {cpu: '200m', memory: '96Mi'}, limits: {cpu: '400m', memory: '256Mi'}};
/** A resize to this restarts no container. */
const MORE_CPU = {requests: SMALL.requests, limits: {...SMALL.limits, cpu: '300m'}};
/** More than the node has free, but not more than it has. */
const HUGE = {requests: {cpu: '1900m', memory: '96Mi'}, limits: {cpu: '2', memory: '256Mi'}};
/** UID of the pod, which its manifest has so that the content may change. */
const UID = 'uid-of-web';
/** A policy by which a resize that is not wanted would restart the container. */
const RESTARTS = {resizePolicy: [{resourceName: 'memory', restartPolicy: 'RestartContainer'}]} as const;

/** A pod beside which HUGE does not fit. */
const OTHER = {
  'other.json': aManifest({name: 'other', containers: [aContainerSpec('other', {resources: LARGE})]}),
};

type What = 'allocated' | 'actuated';

function manifest(resources: ResourceRequirements, spec: Partial<Pod['spec']> = {}): string {
  const containers = [aContainerSpec('main', {resources, ...RESTARTS})];
  return aManifest({name: 'web', metadata: {uid: UID}, containers, ...spec});
}

const fileOf = ({rootDir}: DaemonTestbed, what: What): string => join(rootDir, `${what}_pods_state`);

/** Writes a file as a kubelet leaves it, with these resources of the pod. */
async function store(testbed: DaemonTestbed, what: What, main: ResourceRequirements): Promise<void> {
  const allocation = {pod: undefined, containers: new Map([['main', main]])};
  await writeFile(fileOf(testbed, what), formatPodResourceCheckpoint(new Map([[podUid(UID), allocation]])));
}

/** Returns the resources of the pod's container in a file. */
async function stored(testbed: DaemonTestbed, what: What): Promise<ResourceRequirements | undefined> {
  const resources = parsePodResourceCheckpoint(await readFile(fileOf(testbed, what), 'utf8'));
  return resources?.get(podUid(UID))?.containers.get('main');
}

/** Starts the pods and waits until all run. */
async function startPods(
  manifests: DaemonTestbedOptions['manifests'] = {'web.json': manifest(SMALL)},
): Promise<DaemonTestbed> {
  const testbed = await DaemonTestbed.start({manifests});
  await testbed.until('they run', () => testbed.running.length === Object.keys(manifests).length);
  await testbed.until('the pod is ready', () => testbed.statusOf('web').ready === 1);
  return testbed;
}

/** Starts the pod and stops its kubelet, and then removes what a kubelet does not store. */
async function leaveNode(
  text = manifest(SMALL),
  manifests: DaemonTestbedOptions['manifests'] = {},
): Promise<DaemonTestbed> {
  const testbed = await startPods({...manifests, 'web.json': text});
  await testbed.stop();
  await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  testbed.events.length = 0;
  return testbed;
}

/** Starts kcri, and returns the changing calls of its first seconds. */
async function takeOver(testbed: DaemonTestbed): Promise<readonly string[]> {
  const before = testbed.fake.calls.length;
  testbed.run();
  await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
  await testbed.clock.sleep(SETTLE_MS);
  return testbed.fake.calls.slice(before).flatMap(({method}) => (CHANGES.test(method) ? [method] : []));
}

const resizeEvents = ({events}: DaemonTestbed): readonly string[] =>
  events.map(({reason}) => reason).filter((reason) => reason.startsWith('Resize'));

const resizeConditions = ({view}: DaemonTestbed): PodStatus['conditions'] =>
  view
    .pods()
    .find(({metadata}) => metadata.uid === UID)
    ?.status?.conditions?.filter(({type}) => type.startsWith('PodResize'));

test('a resize that a kubelet has allocated and not actuated is completed', async () => {
  await using testbed = await leaveNode();
  await testbed.put('web.json', manifest(MORE_CPU));
  await store(testbed, 'allocated', MORE_CPU);
  const calls = await takeOver(testbed);
  expect(calls.filter((method) => !method.startsWith('Update'))).toEqual([]);
  expect(calls.filter((method) => method === 'UpdateContainerResources')).toHaveLength(1);
  expect(testbed.running).toEqual(['web-goldennode/main/0']);
  expect(resizeEvents(testbed)).toContain('ResizeCompleted');
  expect(await stored(testbed, 'actuated')).toEqual(MORE_CPU);
});

test('a resize that a kubelet has deferred stays deferred', async () => {
  await using testbed = await leaveNode(manifest(SMALL), OTHER);
  await testbed.put('web.json', manifest(HUGE));
  expect(await takeOver(testbed)).toEqual([]);
  expect(resizeConditions(testbed)).toMatchObject([{type: 'PodResizePending', reason: 'Deferred'}]);
  expect(await stored(testbed, 'allocated')).toEqual(SMALL);
});

test('a resize that kcri has allocated and not actuated is in the files of the kubelet that comes back', async () => {
  await using testbed = await startPods();
  testbed.fake.injectError('UpdateContainerResources', {code: 'UNKNOWN', message: 'not yet'});
  await testbed.put('web.json', manifest(MORE_CPU));
  await testbed.until('it has failed', () => resizeEvents(testbed).includes('ResizeError'));
  await testbed.stop();
  expect(await stored(testbed, 'allocated')).toEqual(MORE_CPU);
  expect(await stored(testbed, 'actuated')).toEqual(SMALL);
});

test('pods without changes leave the files of a kubelet as they are', async () => {
  await using testbed = await leaveNode();
  const texts = async (): Promise<readonly string[]> =>
    Promise.all((['allocated', 'actuated'] as const).map((what) => readFile(fileOf(testbed, what), 'utf8')));
  const before = await texts();
  expect(await takeOver(testbed)).toEqual([]);
  await testbed.stop();
  expect(await texts()).toEqual(before);
});

test('pod-level resources that a kubelet before 1.36 has not stored are those of the pod', async () => {
  await using testbed = await leaveNode(manifest({}, {resources: SMALL}));
  expect(await stored(testbed, 'allocated')).toEqual({});
  // A container has the limits of its pod.
  expect(await stored(testbed, 'actuated')).toEqual({limits: SMALL.limits});
  await store(testbed, 'allocated', {});
  await store(testbed, 'actuated', {limits: SMALL.limits});
  expect(await takeOver(testbed)).toEqual([]);
  expect(resizeEvents(testbed)).toEqual([]);
  expect(resizeConditions(testbed)).toEqual([]);
});

const VALID = formatPodResourceCheckpoint(
  new Map([[podUid(UID), {pod: undefined, containers: new Map([['main', LARGE]])}]]),
);

test.each([
  ['an empty file', ''],
  ['a torn file', VALID.slice(0, -10)],
  ['a wrong checksum', VALID.replace('256Mi', '257Mi')],
  ['a foreign file', '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}'],
])('%s is ignored with a message, and no container is resized or restarted', async (_name, content) => {
  await using testbed = await leaveNode();
  for (const what of ['allocated', 'actuated'] as const) await writeFile(fileOf(testbed, what), content);
  expect(await takeOver(testbed)).toEqual([]);
  for (const what of ['allocated', 'actuated'] as const) {
    expect(testbed.errors).toContain(
      `Ignoring the resources of pods, resizes in progress count as completed: checkpoint "${fileOf(testbed, what)}" is corrupted`,
    );
    // A kubelet that comes back would not start with the old content, and restart containers without an entry.
    expect(await stored(testbed, what)).toEqual(SMALL);
  }
});

test('files that were removed are made again, and no container is resized or restarted', async () => {
  await using testbed = await leaveNode();
  for (const what of ['allocated', 'actuated'] as const) await rm(fileOf(testbed, what));
  expect(await takeOver(testbed)).toEqual([]);
  expect([await stored(testbed, 'allocated'), await stored(testbed, 'actuated')]).toEqual([SMALL, SMALL]);
});

test('between two daemons, corrupt files lose nothing that the records have', async () => {
  await using testbed = await startPods({...OTHER, 'web.json': manifest(SMALL)});
  await testbed.stop();
  await testbed.put('web.json', manifest(HUGE));
  for (const what of ['allocated', 'actuated'] as const) await writeFile(fileOf(testbed, what), '{');
  expect(await takeOver(testbed)).toEqual([]);
  expect(resizeConditions(testbed)).toMatchObject([{type: 'PodResizePending', reason: 'Deferred'}]);
});

test('a file that cannot be read ends the daemon with a clear error, and the pods keep running', async () => {
  await using testbed = await leaveNode();
  const file = fileOf(testbed, 'actuated');
  await rm(file);
  await mkdir(file);
  const before = testbed.fake.calls.length;
  testbed.run();
  await expect(testbed.ended).rejects.toMatchObject({
    message: expect.stringContaining(`reading "${file}"`) as unknown,
    hint: 'make it readable, or drain the node and remove it',
  });
  expect(testbed.fake.calls.slice(before).filter(({method}) => CHANGES.test(method))).toEqual([]);
  await rm(file, {recursive: true});
  expect(await takeOver(testbed)).toEqual([]);
});
