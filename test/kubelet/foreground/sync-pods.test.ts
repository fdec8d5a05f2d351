import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {podRef} from '../../../src/kubelet/container/pod-ref.js';
import {syncPodUntil, type SyncPodsOptions} from '../../../src/kubelet/foreground/sync-pods.js';
import {aLocalPod, aPodGround} from '../pod-ground.js';

const signal = new AbortController().signal;
const OPTIONS: SyncPodsOptions = {
  wait: 'ready',
  timeoutMs: undefined,
  clock: systemClock,
  onStatus: () => undefined,
};

test('tells each status once, the last one being that of the outcome', async () => {
  const {pods} = await aPodGround();
  const pod = aLocalPod({
    initContainers: [{name: 'setup', image: 'localhost:5000/busybox:1', command: ['true']}],
  });
  const phases: (string | undefined)[] = [];
  const outcome = await syncPodUntil(
    pods,
    {pod, source: '-'},
    {
      ...OPTIONS,
      onStatus: (_, {phase, initContainerStatuses}) =>
        phases.push(`${phase} ${initContainerStatuses?.[0]?.ready}`),
    },
    signal,
  );
  expect(outcome).toEqual({pod: podRef(pod), kind: 'ready'});
  expect(phases).toEqual(['Pending true', 'Running true']);
});

test('never rejects: an aborted signal is an outcome', async () => {
  const {pods, runtime} = await aPodGround();
  const reason = new Error('stop');
  const outcome = await syncPodUntil(
    pods,
    {pod: aLocalPod(), source: '-'},
    OPTIONS,
    AbortSignal.abort(reason),
  );
  expect(outcome).toMatchObject({kind: 'interrupted', reason});
  expect(runtime.callsTo('RunPodSandbox')).toEqual([]);
});

test('a signal that aborts while the last container starts is an interruption, not a success', async () => {
  const {pods, runtime} = await aPodGround();
  const controller = new AbortController();
  runtime.injectDelay('StartContainer', 50);
  const syncing = syncPodUntil(pods, {pod: aLocalPod(), source: '-'}, OPTIONS, controller.signal);
  await expect.poll(() => runtime.callsTo('StartContainer')).toHaveLength(1);
  controller.abort(new Error('stop'));
  expect((await syncing).kind).toBe('interrupted');
});

test('a failure tells that the new pod is removed', async () => {
  const {pods} = await aPodGround({images: []});
  const pod = aLocalPod();
  expect(await syncPodUntil(pods, {pod, source: '-'}, OPTIONS, signal)).toMatchObject({
    kind: 'failed',
    removed: true,
    error: {reason: 'ErrImagePull'},
  });
  expect(await pods.store.get(podRef(pod).uid)).toBeUndefined();
});

test('a failure tells why the new pod could not be removed', async () => {
  const {pods, runtime} = await aPodGround({images: []});
  const pod = aLocalPod();
  runtime.injectError('RemovePodSandbox', {code: 'UNKNOWN', message: 'busy'});
  expect(await syncPodUntil(pods, {pod, source: '-'}, OPTIONS, signal)).toMatchObject({
    kind: 'failed',
    removed: false,
    error: {reason: 'ErrImagePull'},
    removalError: {details: 'busy'},
  });
  expect(await pods.store.get(podRef(pod).uid)).toBeDefined();
});

test('a failure of a pod that ran before leaves it', async () => {
  const {pods, runtime} = await aPodGround();
  const request = {pod: aLocalPod(), source: '-'};
  await syncPodUntil(pods, request, OPTIONS, signal);
  runtime.exitContainer(runtime.containers[0]!.id, 1);
  runtime.injectError('CreateContainer', {code: 'UNKNOWN', message: 'no'});
  expect(await syncPodUntil(pods, request, OPTIONS, signal)).toMatchObject({kind: 'failed', removed: false});
  expect(runtime.sandboxes).toHaveLength(1);
});

test('when the time is up the last status and the last error are told', async () => {
  const {pods} = await aPodGround({images: []});
  const outcome = await syncPodUntil(
    pods,
    {pod: aLocalPod(), source: '-'},
    {...OPTIONS, timeoutMs: 300},
    signal,
  );
  expect(outcome).toMatchObject({
    kind: 'timeout',
    status: {phase: 'Pending'},
    error: {problem: expect.stringMatching(/^container "main": (ErrImagePull|ImagePullBackOff): /) as string},
  });
});
