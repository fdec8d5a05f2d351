import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {SystemError} from '../../../../src/base/errors.js';
import {containerId} from '../../../../src/cri/index.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import {podDir} from '../../../../src/kubelet/contract/node-facts.js';
import type {MountedVolume} from '../../../../src/kubelet/contract/pod-filesystem.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import {failuresOf} from '../../../../src/kubelet/contract/sync-result.js';
import {aLocalPod, startRegistryTestbed} from '../registry-testbed.js';
import {syncOnce} from '../sync-once.js';

const signal = new AbortController().signal;

test('syncing an unchanged running pod does nothing', async () => {
  const {pods} = await startRegistryTestbed();
  const syncer = pods.createSyncer(aLocalPod());
  expect((await syncOnce(syncer, signal)).results.map(({action, target}) => [action, target])).toEqual([
    ['CreatePodSandbox', 'web'],
    ['StartContainer', 'main'],
  ]);
  const second = await syncOnce(syncer, signal);
  expect(second.results).toEqual([]);
  expect(second.status).toMatchObject({phase: 'Running', containerStatuses: [{name: 'main', ready: true}]});
});

// A kubelet reads the Secrets with each SyncPod, also of a pod that runs.
test('missing pull secrets are reported with each sync', async () => {
  const {pods, events} = await startRegistryTestbed();
  const pod = aLocalPod();
  const syncer = pods.createSyncer({...pod, spec: {...pod.spec, imagePullSecrets: [{name: 'gone'}]}});
  await syncOnce(syncer, signal);
  expect((await syncOnce(syncer, signal)).results).toEqual([]);
  await syncOnce(syncer, signal);
  expect(events.filter(({reason}) => reason === 'FailedToRetrieveImagePullSecret')).toHaveLength(3);
});

test('the deletion of a pod is persisted until the pod is synced again', async () => {
  const {pods, histories} = await startRegistryTestbed();
  const pod = aLocalPod();
  const {uid} = podRef(pod);
  const syncer = pods.createSyncer(pod);
  const {runtime} = await syncOnce(syncer, signal);
  const persistedDeletion = async () => {
    await syncer.flush();
    return (await histories.lastKnown(uid))?.deletion;
  };
  await syncer.syncTerminatingPod(runtime, {gracePeriodSeconds: 2});
  expect(await persistedDeletion()).toBeUndefined();
  await syncer.syncTerminatingPod(runtime, {gracePeriodSeconds: 2, isDeletion: true});
  expect(await persistedDeletion()).toMatchObject({deletionGracePeriodSeconds: 2});
  await syncer.syncPod(runtime, {
    networkError: undefined,
    resizeReview: undefined,
    syncFrequencyMs: 60_000,
    signal,
  });
  expect(await persistedDeletion()).toBeUndefined();
});

test('a probe result is applied to the status and persisted before the next sync', async () => {
  const {pods, histories, runtime} = await startRegistryTestbed();
  const pod = aLocalPod();
  const {uid} = podRef(pod);
  const syncer = pods.createSyncer(pod);
  await syncOnce(syncer, signal);
  const {id} = runtime.containers[0]!;
  const shown = {containerStatuses: [{ready: false, started: true}]};
  const outcome = {uid, probe: 'readiness', status: 'not ready'} as const;

  syncer.applyProbeUpdate({...outcome, id: containerId('another')});
  expect(syncer.status).not.toMatchObject(shown);
  syncer.applyProbeUpdate({...outcome, id: containerId(id)});
  await syncer.flush();

  expect(syncer.status).toMatchObject(shown);
  expect((await histories.lastKnown(uid))?.status).toEqual(syncer.status);
});

const FULL = new SystemError('the disk is full');

test.each([
  ['makePodCgroup', 'FailedCreatePodContainer', 'unable to ensure pod container exists: the disk is full'],
  ['makePodDirs', 'Failed', 'error making pod data directories: the disk is full'],
  ['mountVolumes', 'FailedMount', 'the disk is full'],
] as const)('a failure of %s emits the event %s and makes no CRI call', async (step, reason, message) => {
  const {pods, runtime, events} = await startRegistryTestbed({}, (real) =>
    Object.assign(real, {
      [step]: async () => {
        throw FULL;
      },
    }),
  );
  const {results} = await syncOnce(pods.createSyncer(aLocalPod()), signal);
  expect(results).toMatchObject([{target: 'web', failure: {reason, message, cause: FULL}}]);
  expect(events).toMatchObject([{type: 'Warning', reason, message}]);
  expect(runtime.callsTo('RunPodSandbox')).toEqual([]);
});

test('each volume that fails to mount emits an event, and the first is the failure of the sync', async () => {
  const {pods, events} = await startRegistryTestbed();
  const volumes = ['x', 'y'].map((name) => ({name, hostPath: {path: `/none/${name}`, type: 'Directory'}}));
  const volumeMounts = volumes.map(({name}) => ({name, mountPath: `/${name}`}));
  const containers = [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}];

  const {results} = await syncOnce(pods.createSyncer(aLocalPod({containers, volumes})), signal);

  const messages = ['x', 'y'].map(
    (name) =>
      `MountVolume.SetUp failed for volume "${name}" : hostPath type check failed: /none/${name} is not a directory`,
  );
  expect(results).toMatchObject([{failure: {reason: 'FailedMount', message: messages[0]}}]);
  expect(events).toMatchObject(
    messages.map((message) => ({type: 'Warning', reason: 'FailedMount', message})),
  );
});

test('a bug in the sync does not become a failure of the pod', async () => {
  const {pods} = await startRegistryTestbed({}, (real) =>
    Object.assign(real, {
      mountVolumes: async () => {
        return {
          volumes: Object.assign(new Map<string, MountedVolume>(), {
            get: () => {
              throw new TypeError('a bug');
            },
          }),
          failures: [],
        };
      },
    }),
  );
  const containers = [
    {name: 'main', image: 'localhost:5000/busybox:1', volumeMounts: [{name: 'v', mountPath: '/v'}]},
  ];
  const syncer = pods.createSyncer(aLocalPod({containers, volumes: [{name: 'v', emptyDir: {}}]}));
  await expect(syncOnce(syncer, signal)).rejects.toThrow(new TypeError('a bug'));
});

test('the event of a container that failed to start contains the container name instead of the instance ID', async () => {
  const before = await startRegistryTestbed();
  await syncOnce(before.pods.createSyncer(aLocalPod()), signal);
  const {id} = before.runtime.containers[0]!;
  // A fake runtime assigns the same IDs in every run.
  const {pods, runtime, events} = await startRegistryTestbed();
  runtime.injectError('StartContainer', {code: 'UNKNOWN', message: `failed to start container "${id}": no`});

  const {status} = await syncOnce(pods.createSyncer(aLocalPod()), signal);

  expect(runtime.containers).toMatchObject([{id}]);
  expect(events.at(-1)).toMatchObject({
    reason: 'Failed',
    message: 'Error: failed to start container "main": no',
  });
  expect(status.containerStatuses?.[0]?.state?.waiting).toEqual({
    reason: 'RunContainerError',
    message: `failed to start container "${id}": no`,
  });
});

test('a runtime crash during a step is a failed result and not an exception', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  runtime.injectCrash('RunPodSandbox');
  const syncer = pods.createSyncer(aLocalPod());
  const before = await syncer.observe(signal);
  const options = {networkError: undefined, resizeReview: undefined, syncFrequencyMs: 60_000, signal};
  const {results} = await syncer.syncPod(before.runtime, options);
  expect(results).toMatchObject([{action: 'CreatePodSandbox', failure: {reason: 'CreatePodSandboxError'}}]);
});

test('a runtime that cannot be listed is an error', async () => {
  const {pods, runtime} = await startRegistryTestbed();
  runtime.injectError('ListContainers', {code: 'UNAVAILABLE', message: 'gone'});
  await expect(syncOnce(pods.createSyncer(aLocalPod()), signal)).rejects.toThrow(
    'code = Unavailable desc = gone',
  );
});

test('the sandbox of a succeeded pod is stopped and its containers are kept', async () => {
  const {pods, runtime} = await startRegistryTestbed({behaviour: () => ({exitCode: 0})});
  const syncer = pods.createSyncer(aLocalPod({restartPolicy: 'Never'}));
  await syncOnce(syncer, signal);
  const {status} = await syncOnce(syncer, signal);
  expect(status.phase).toBe('Succeeded');
  expect(runtime.sandboxes).toMatchObject([{state: 'SANDBOX_NOTREADY'}]);
  expect(runtime.containers).toMatchObject([{state: 'CONTAINER_EXITED'}]);
  expect((await syncOnce(syncer, signal)).results).toEqual([]);
});

test('the volumes of a running pod are remounted by the first sync of a syncer', async () => {
  let mounted = 0;
  const {pods, runtime} = await startRegistryTestbed({}, (real) =>
    Object.assign(real, {
      mountVolumes: async () => {
        mounted++;
        return {volumes: new Map(), failures: []};
      },
    }),
  );
  const pod = aLocalPod();
  const syncer = pods.createSyncer(pod);
  await syncOnce(syncer, signal);
  const calls = runtime.calls.filter(({method}) => method === 'CreateContainer').length;
  await syncOnce(syncer, signal);
  expect(mounted).toBe(1);
  const {results} = await syncOnce(pods.createSyncer(pod), signal);
  expect({mounted, results}).toEqual({mounted: 2, results: []});
  expect(runtime.callsTo('CreateContainer')).toHaveLength(calls);
});

// As a kubelet does within a second, since volumes of the downward API show them.
test('changed labels and annotations of a running pod are mounted by the next sync', async () => {
  const mounted: unknown[] = [];
  const {pods} = await startRegistryTestbed({}, (real) =>
    Object.assign(real, {
      mountVolumes: async ({metadata}: Pod) => {
        mounted.push([metadata.labels, metadata.annotations]);
        return {volumes: new Map(), failures: []};
      },
    }),
  );
  const pod = aLocalPod();
  const syncer = pods.createSyncer(pod);
  await syncOnce(syncer, signal);
  const {labels, annotations} = pod.metadata;
  const next = {...labels, v: '2'};
  syncer.pod = {...pod, status: {phase: 'Running'}};
  await syncOnce(syncer, signal);
  syncer.pod = {...pod, metadata: {...pod.metadata, labels: next}};
  await syncOnce(syncer, signal);
  expect(mounted).toEqual([
    [labels, annotations],
    [next, annotations],
  ]);
});

// Proves: Volume.configMap
test('API objects are refreshed with the sync frequency, and the volumes made from them are updated', async () => {
  vi.useFakeTimers({toFake: ['Date', 'hrtime']});
  onTestFinished(() => void vi.useRealTimers());
  let color = 'red';
  let refreshed = 0;
  const objects: ApiObjects = {
    ...NO_OBJECTS,
    configMap: () => ({apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c'}, data: {color}}),
    refresh: async () => {
      refreshed++;
      color = 'blue';
    },
  };
  const {pods, node} = await startRegistryTestbed({}, undefined, objects);
  const volumeMounts = [{name: 'c', mountPath: '/c'}];
  const pod = aLocalPod({
    containers: [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}],
    volumes: [{name: 'c', configMap: {name: 'c'}}],
  });
  const path = join(podDir(node, podRef(pod).uid), 'volumes/kubernetes.io~configmap/c/color');
  const syncer = pods.createSyncer(pod);
  const contentAfter = async (ms: number): Promise<string> => {
    vi.advanceTimersByTime(ms);
    await syncOnce(syncer, signal, 10_000);
    return `${await readFile(path, 'utf8')} after ${refreshed} refreshes`;
  };
  expect(await contentAfter(0)).toBe('red after 0 refreshes');
  expect(await contentAfter(9_000)).toBe('red after 0 refreshes');
  expect(await contentAfter(1_000)).toBe('blue after 1 refreshes');
  expect(await contentAfter(1_000)).toBe('blue after 1 refreshes');
});

test('a failed volume is retried with refreshed API objects', async () => {
  let data: Readonly<Record<string, string>> | undefined;
  const objects: ApiObjects = {
    ...NO_OBJECTS,
    configMap: () => data && {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c'}, data},
    refresh: async () => {
      data = {color: 'red'};
    },
  };
  const {pods} = await startRegistryTestbed({}, undefined, objects);
  const volumeMounts = [{name: 'c', mountPath: '/c'}];
  const syncer = pods.createSyncer(
    aLocalPod({
      containers: [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}],
      volumes: [{name: 'c', configMap: {name: 'c'}}],
    }),
  );
  expect(failuresOf((await syncOnce(syncer, signal)).results)).toHaveLength(1);
  const {results, status} = await syncOnce(syncer, signal);
  expect({failures: failuresOf(results), phase: status.phase}).toEqual({failures: [], phase: 'Running'});
});

test('a missing ConfigMap emits FailedMount, and running containers keep running', async () => {
  const {pods, runtime, events} = await startRegistryTestbed();
  const pod = aLocalPod();
  await syncOnce(pods.createSyncer(pod), signal);
  const [container] = pod.spec.containers;
  const volumeMounts = [{name: 'c', mountPath: '/c'}];
  const changed: Pod = {
    ...pod,
    spec: {
      ...pod.spec,
      containers: [{...container!, volumeMounts}],
      volumes: [{name: 'c', configMap: {name: 'none'}}],
    },
  };
  const {results, status} = await syncOnce(pods.createSyncer(changed), signal);
  const message = 'MountVolume.SetUp failed for volume "c" : configmap "none" not found';
  expect(failuresOf(results).map(({failure}) => failure)).toMatchObject([{reason: 'FailedMount', message}]);
  expect(events).toContainEqual(expect.objectContaining({type: 'Warning', reason: 'FailedMount', message}));
  expect(status.containerStatuses?.map(({ready}) => ready)).toEqual([true]);
  expect(runtime.callsTo('StopContainer')).toEqual([]);
});
