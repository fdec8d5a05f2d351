import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {AutoAdvance, FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {podRef} from '../../../src/kubelet/contract/pod-ref.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {aContainerSpec} from '../../commands/command-testbed.js';
import {aLocalPod, startRegistryTestbed, type RegistryTestbed} from '../pods/registry-testbed.js';
import {syncOnePod} from './sync-one-pod.js';

// Proves: Pod.kind
test('each status is reported once, and the last one is that of the result', async () => {
  const testbed = await startRegistryTestbed();
  const pod = aLocalPod({
    initContainers: [{name: 'setup', image: 'localhost:5000/busybox:1', command: ['true']}],
  });
  const statuses: PodStatus[] = [];
  const result = await syncOnePod(testbed, pod, {onStatus: (_, status) => void statuses.push(status)});
  expect(result).toEqual({pod: podRef(pod), kind: 'ready', hadEnded: false, status: statuses.at(-1)});
  for (const [index, status] of statuses.entries()) expect(status).not.toEqual(statuses[index - 1]);
  const phases = statuses.map(({phase, initContainerStatuses: [init] = []}) => `${phase} ${init?.ready}`);
  expect([...new Set(phases)]).toEqual(['Pending false', 'Pending true', 'Running true']);
  expect(phases.at(-1)).toBe('Running true');
});

test('an aborted signal is a result and makes no call', async () => {
  const testbed = await startRegistryTestbed();
  const reason = new Error('stop');
  const result = await syncOnePod(testbed, aLocalPod(), {}, AbortSignal.abort(reason));
  expect(result).toMatchObject({kind: 'interrupted', reason});
  expect(testbed.runtime.callsTo('RunPodSandbox')).toEqual([]);
});

test('a signal that aborts while the last container starts is an interruption, not a success', async () => {
  const testbed = await startRegistryTestbed();
  const controller = new AbortController();
  testbed.runtime.injectDelay('StartContainer', 50);
  const syncing = syncOnePod(testbed, aLocalPod(), {}, controller.signal);
  await until(() => testbed.runtime.callsTo('StartContainer').length === 1);
  controller.abort(new Error('stop'));
  expect((await syncing).kind).toBe('interrupted');
});

test('a failure reports that the new pod was removed', async () => {
  const testbed = await startRegistryTestbed({images: []});
  const pod = aLocalPod();
  expect(await syncOnePod(testbed, pod)).toMatchObject({
    kind: 'failed',
    removed: true,
    error: {reason: 'ErrImagePull'},
  });
  expect(await testbed.pods.store.get(podRef(pod).uid)).toBeUndefined();
});

test('a failure reports why the new pod could not be removed', async () => {
  const testbed = await startRegistryTestbed({images: []});
  const pod = aLocalPod();
  testbed.runtime.injectError('RemovePodSandbox', {code: 'UNKNOWN', message: 'busy'});
  expect(await syncOnePod(testbed, pod)).toMatchObject({
    kind: 'failed',
    removed: false,
    error: {reason: 'ErrImagePull'},
    removalError: {details: 'busy'},
  });
  expect(await testbed.pods.store.get(podRef(pod).uid)).toBeDefined();
});

test('a pod that ran before is left after a failure', async () => {
  const testbed = await startRegistryTestbed();
  const {runtime} = testbed;
  const pod = aLocalPod();
  await syncOnePod(testbed, pod);
  runtime.exitContainer(runtime.containers[0]!.id, 1);
  runtime.injectError('CreateContainer', {code: 'UNKNOWN', message: 'no'});
  expect(await syncOnePod(testbed, pod)).toMatchObject({kind: 'failed', removed: false});
  expect(runtime.sandboxes).toHaveLength(1);
});

test('a time limit reports the last status and the last error', async () => {
  const testbed = await startRegistryTestbed({images: []});
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const syncing = syncOnePod(testbed, aLocalPod(), {timeoutMs: 3000, clock});
  await until(() => testbed.events.some(({message}) => message === 'Error: ErrImagePull'));
  clock.elapse(3000);
  expect(await syncing).toMatchObject({
    kind: 'timeout',
    status: {phase: 'Pending'},
    error: {problem: expect.stringMatching(/^container "main": (ErrImagePull|ImagePullBackOff): /) as string},
  });
});

test('a runtime that is not ready fails a sync without a time limit', async () => {
  const testbed = await startRegistryTestbed();
  testbed.runtime.injectError('Status', {code: 'UNKNOWN', message: 'starting'});
  const pod = aLocalPod();
  expect(await syncOnePod(testbed, pod)).toMatchObject({
    kind: 'failed',
    removed: true,
    error: {message: expect.stringContaining('container runtime status check') as string},
  });
});

test('a new pod causes one warning about resources unknown to the node, an unchanged pod none', async () => {
  const testbed = await startRegistryTestbed();
  const resources = {limits: {'example.com/gpu': '1'}, requests: {'example.com/gpu': '1'}};
  const pod = aLocalPod({containers: [aContainerSpec('main', {resources})]});
  const warnings = () => testbed.events.filter(({reason}) => reason === 'UnknownResource');
  expect(await syncOnePod(testbed, pod)).toMatchObject({kind: 'ready'});
  expect(warnings()).toHaveLength(1);
  expect(await syncOnePod(testbed, pod)).toMatchObject({kind: 'ready'});
  expect(warnings()).toHaveLength(1);
});

test('a sync of an unchanged pod opens no event stream', async () => {
  const testbed = await startRegistryTestbed();
  const {runtime} = testbed;
  await syncOnePod(testbed, aLocalPod());
  expect(runtime.callsTo('GetContainerEvents')).toHaveLength(1);
  runtime.clearCalls();
  expect(await syncOnePod(testbed, aLocalPod())).toMatchObject({kind: 'ready'});
  expect(runtime.callsTo('GetContainerEvents')).toEqual([]);
});

/** Syncs the pod until it is ready; its container then crashes, the given number of times. */
async function syncAndCrash(testbed: RegistryTestbed, crashes: number): Promise<void> {
  for (let crash = 0; crash < crashes; crash++) {
    expect(await syncOnePod(testbed, aLocalPod())).toMatchObject({kind: 'ready'});
    const running = testbed.runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
    testbed.runtime.exitContainer(running!.id, 1);
  }
}

/** Returns the instances of the pod's container as attempt and state. */
function instances({runtime}: RegistryTestbed): readonly string[] {
  return runtime.containers.map(({config, state}) => `${config.metadata?.attempt} ${state}`).toSorted();
}

test('of a container that crashes between syncs, one dead instance is kept', async () => {
  const testbed = await startRegistryTestbed();
  await syncAndCrash(testbed, 4);
  await syncOnePod(testbed, aLocalPod());
  expect(instances(testbed)).toEqual(['3 CONTAINER_EXITED', '4 CONTAINER_RUNNING']);
});

test('a failed removal of an older instance fails no sync, and the next sync retries it', async () => {
  const testbed = await startRegistryTestbed();
  const {runtime, events} = testbed;
  await syncAndCrash(testbed, 2);
  runtime.injectError('RemoveContainer', {code: 'UNKNOWN', message: 'device busy'});
  expect(await syncOnePod(testbed, aLocalPod())).toMatchObject({kind: 'ready'});
  expect(new Set(runtime.callsTo('RemoveContainer').map(({code}) => code))).toEqual(new Set(['Unknown']));
  expect(instances(testbed)).toEqual(['0 CONTAINER_EXITED', '1 CONTAINER_EXITED', '2 CONTAINER_RUNNING']);
  expect(events.filter(({message}) => message.includes('device busy'))).toEqual([]);

  runtime.clearFaults();
  expect(await syncOnePod(testbed, aLocalPod())).toMatchObject({kind: 'ready'});
  expect(instances(testbed)).toEqual(['1 CONTAINER_EXITED', '2 CONTAINER_RUNNING']);
});

test('a sync that waits retries a failed removal of an older instance when the container dies again', async () => {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const testbed = await startRegistryTestbed({clock, behaviour: () => ({exitCode: 1})});
  const {runtime} = testbed;
  runtime.injectError('RemoveContainer', {code: 'UNKNOWN', message: 'device busy', times: 1});
  using _ = new AutoAdvance(clock);
  const controller = new AbortController();
  const options = {wait: 'complete', timeoutMs: 3_600_000, clock} as const;
  const syncing = syncOnePod(testbed, aLocalPod(), options, controller.signal);
  await until(() => runtime.callsTo('RemoveContainer').some(({code}) => code === 'OK'));
  controller.abort();
  expect(await syncing).toMatchObject({kind: 'interrupted'});
  const [failed, ...retried] = runtime.callsTo('RemoveContainer');
  expect(failed).toMatchObject({code: 'Unknown'});
  expect(retried).toContainEqual(expect.objectContaining({code: 'OK', request: failed!.request}));
});
