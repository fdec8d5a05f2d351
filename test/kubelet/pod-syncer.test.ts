import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import type {Pod} from '../../src/api/v1.js';
import {SystemError} from '../../src/base/errors.js';
import {containerId} from '../../src/cri/index.js';
import {NO_OBJECTS, type ApiObjects} from '../../src/kubelet/container/api-objects.js';
import {podDir} from '../../src/kubelet/container/node.js';
import {podRef} from '../../src/kubelet/container/pod-ref.js';
import {failuresOf} from '../../src/kubelet/container/sync-result.js';
import {aLocalPod, aPodGround} from './pod-ground.js';

const signal = new AbortController().signal;

test('a pass of a pod that is as it should be finds nothing to do', async () => {
  const {pods} = await aPodGround();
  const syncer = pods.syncer(aLocalPod());
  expect((await syncer.sync(signal)).results.map(({action, target}) => [action, target])).toEqual([
    ['CreatePodSandbox', 'web'],
    ['StartContainer', 'main'],
  ]);
  const second = await syncer.sync(signal);
  expect(second.results).toEqual([]);
  expect(second.status).toMatchObject({phase: 'Running', containerStatuses: [{name: 'main', ready: true}]});
});

test('a pod that nobody wants is kept as one that is deleted, until it is wanted again', async () => {
  const {pods, histories} = await aPodGround();
  const pod = aLocalPod();
  const {uid} = podRef(pod);
  const syncer = pods.syncer(pod);
  const {runtime} = await syncer.sync(signal);
  const kept = async () => {
    await syncer.settled();
    return (await histories.lastKnown(uid))?.deletion;
  };
  await syncer.endKnown(runtime, {gracePeriodSeconds: 2});
  expect(await kept()).toBeUndefined();
  await syncer.endKnown(runtime, {gracePeriodSeconds: 2, isDeletion: true});
  expect(await kept()).toMatchObject({deletionGracePeriodSeconds: 2});
  await syncer.syncKnown(runtime, {networkError: undefined, pendingResize: undefined, signal});
  expect(await kept()).toBeUndefined();
});

test('what a probe has found is shown, and kept, before the next sync', async () => {
  const {pods, histories, runtime} = await aPodGround();
  const pod = aLocalPod();
  const {uid} = podRef(pod);
  const syncer = pods.syncer(pod);
  await syncer.sync(signal);
  const {id} = runtime.containers[0]!;
  const shown = {containerStatuses: [{ready: false, started: true}]};
  const outcome = {uid, probe: 'readiness', status: 'not ready'} as const;

  syncer.probed({...outcome, id: containerId('another')});
  expect(syncer.status).not.toMatchObject(shown);
  syncer.probed({...outcome, id: containerId(id)});
  await syncer.settled();

  expect(syncer.status).toMatchObject(shown);
  expect((await histories.lastKnown(uid))?.status).toEqual(syncer.status);
});

test('of a container that crashes one dead instance is kept', async () => {
  const {pods, runtime} = await aPodGround();
  for (let restart = 0; restart < 4; restart++) {
    // A new syncer each time, as there is no back-off between two processes.
    await pods.syncer(aLocalPod()).sync(signal);
    const running = runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
    runtime.exitContainer(running!.id, 1);
  }
  await pods.syncer(aLocalPod()).sync(signal);
  const attempts = runtime.containers.map(({config, state}) => [config.metadata?.attempt, state]);
  expect(attempts.toSorted()).toEqual([
    [3, 'CONTAINER_EXITED'],
    [4, 'CONTAINER_RUNNING'],
  ]);
});

const FULL = new SystemError('the disk is full');

test.each([
  ['makePodCgroup', 'FailedCreatePodContainer', 'unable to ensure pod container exists: the disk is full'],
  ['makePodDirs', 'Failed', 'error making pod data directories: the disk is full'],
  ['mountVolumes', 'FailedMount', 'the disk is full'],
] as const)('%s that fails is told as %s, and no call is made', async (step, reason, message) => {
  const {pods, runtime, events} = await aPodGround({}, (real) =>
    Object.assign(real, {
      [step]: async () => {
        throw FULL;
      },
    }),
  );
  const {results} = await pods.syncer(aLocalPod()).sync(signal);
  expect(results).toMatchObject([{target: 'web', failure: {reason, message, cause: FULL}}]);
  expect(events).toMatchObject([{type: 'Warning', reason, message}]);
  expect(runtime.callsTo('RunPodSandbox')).toEqual([]);
});

test('each volume that could not be mounted has its event, and the first is why the pod does not start', async () => {
  const {pods, events} = await aPodGround();
  const volumes = ['x', 'y'].map((name) => ({name, hostPath: {path: `/none/${name}`, type: 'Directory'}}));
  const volumeMounts = volumes.map(({name}) => ({name, mountPath: `/${name}`}));
  const containers = [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}];

  const {results} = await pods.syncer(aLocalPod({containers, volumes})).sync(signal);

  const messages = ['x', 'y'].map(
    (name) =>
      `MountVolume.SetUp failed for volume "${name}" : hostPath type check failed: /none/${name} is not a directory`,
  );
  expect(results).toMatchObject([{failure: {reason: 'FailedMount', message: messages[0]}}]);
  expect(events).toMatchObject(
    messages.map((message) => ({type: 'Warning', reason: 'FailedMount', message})),
  );
});

test('a fault in the sync itself is not taken for a volume that could not be mounted', async () => {
  const {pods} = await aPodGround({}, (real) =>
    Object.assign(real, {
      mountVolumes: async () => {
        return {
          get: () => {
            throw new TypeError('a bug');
          },
        };
      },
    }),
  );
  const containers = [
    {name: 'main', image: 'localhost:5000/busybox:1', volumeMounts: [{name: 'v', mountPath: '/v'}]},
  ];
  const pass = await pods.syncer(aLocalPod({containers, volumes: [{name: 'v', emptyDir: {}}]})).sync(signal);
  expect(failuresOf(pass.results).map(({failure}) => failure.reason)).toEqual(['CreateContainerConfigError']);
});

test('the event of a container that could not be started names the container, not the instance', async () => {
  const before = await aPodGround();
  await before.pods.syncer(aLocalPod()).sync(signal);
  const {id} = before.runtime.containers[0]!;
  // A fake runtime gives the same ids at each run.
  const {pods, runtime, events} = await aPodGround();
  runtime.injectError('StartContainer', {code: 'UNKNOWN', message: `failed to start container "${id}": no`});

  const {status} = await pods.syncer(aLocalPod()).sync(signal);

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

test('what has failed is told also when the runtime has gone away since', async () => {
  const {pods, runtime} = await aPodGround();
  runtime.injectCrash('RunPodSandbox');
  const {results} = await pods.syncer(aLocalPod()).sync(signal);
  expect(results).toMatchObject([{action: 'CreatePodSandbox', failure: {reason: 'CreatePodSandboxError'}}]);
});

test('a runtime that cannot be asked in the first place is an error', async () => {
  const {pods, runtime} = await aPodGround();
  runtime.injectError('ListContainers', {code: 'UNAVAILABLE', message: 'gone'});
  await expect(pods.syncer(aLocalPod()).sync(signal)).rejects.toThrow('code = Unavailable desc = gone');
});

test('a pod that has succeeded has its sandbox stopped and its containers kept', async () => {
  const {pods, runtime} = await aPodGround({behaviour: () => ({exitCode: 0})});
  const syncer = pods.syncer(aLocalPod({restartPolicy: 'Never'}));
  await syncer.sync(signal);
  const {status} = await syncer.sync(signal);
  expect(status.phase).toBe('Succeeded');
  expect(runtime.sandboxes).toMatchObject([{state: 'SANDBOX_NOTREADY'}]);
  expect(runtime.containers).toMatchObject([{state: 'CONTAINER_EXITED'}]);
  expect((await syncer.sync(signal)).results).toEqual([]);
});

test('the volumes of a pod that runs are brought up to date by the first pass over it, and then now and again', async () => {
  let mounted = 0;
  const {pods, runtime} = await aPodGround({}, (real) =>
    Object.assign(real, {
      mountVolumes: async () => {
        mounted++;
        return new Map();
      },
    }),
  );
  const pod = aLocalPod();
  const syncer = pods.syncer(pod);
  await syncer.sync(signal);
  const calls = runtime.calls.filter(({method}) => method === 'CreateContainer').length;
  await syncer.sync(signal);
  expect(mounted).toBe(1);
  const {results} = await pods.syncer(pod).sync(signal);
  expect({mounted, results}).toEqual({mounted: 2, results: []});
  expect(runtime.callsTo('CreateContainer')).toHaveLength(calls);
});

test('every minute what volumes are made from is read again, and containers see it', async () => {
  vi.useFakeTimers({toFake: ['Date']});
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
  const {pods, node} = await aPodGround({}, undefined, objects);
  const volumeMounts = [{name: 'c', mountPath: '/c'}];
  const pod = aLocalPod({
    containers: [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}],
    volumes: [{name: 'c', configMap: {name: 'c'}}],
  });
  const path = join(podDir(node, podRef(pod).uid), 'volumes/kubernetes.io~configmap/c/color');
  const syncer = pods.syncer(pod);
  const seenAfter = async (ms: number): Promise<string> => {
    vi.setSystemTime(Date.now() + ms);
    await syncer.sync(signal);
    return `${await readFile(path, 'utf8')} after ${refreshed} refreshes`;
  };
  expect(await seenAfter(0)).toBe('red after 0 refreshes');
  expect(await seenAfter(59_000)).toBe('red after 0 refreshes');
  expect(await seenAfter(1_000)).toBe('blue after 1 refreshes');
  expect(await seenAfter(1_000)).toBe('blue after 1 refreshes');
});

test('a volume that failed is tried again with what there is by then', async () => {
  let data: Readonly<Record<string, string>> | undefined;
  const objects: ApiObjects = {
    ...NO_OBJECTS,
    configMap: () => data && {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'c'}, data},
    refresh: async () => {
      data = {color: 'red'};
    },
  };
  const {pods} = await aPodGround({}, undefined, objects);
  const volumeMounts = [{name: 'c', mountPath: '/c'}];
  const syncer = pods.syncer(
    aLocalPod({
      containers: [{name: 'main', image: 'localhost:5000/busybox:1', volumeMounts}],
      volumes: [{name: 'c', configMap: {name: 'c'}}],
    }),
  );
  expect(failuresOf((await syncer.sync(signal)).results)).toHaveLength(1);
  const {results, status} = await syncer.sync(signal);
  expect({failures: failuresOf(results), phase: status.phase}).toEqual({failures: [], phase: 'Running'});
});

test('an object that is missing is told of, and what runs goes on running', async () => {
  const {pods, runtime, events} = await aPodGround();
  const pod = aLocalPod();
  await pods.syncer(pod).sync(signal);
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
  const {results, status} = await pods.syncer(changed).sync(signal);
  const message = 'MountVolume.SetUp failed for volume "c" : configmap "none" not found';
  expect(failuresOf(results).map(({failure}) => failure)).toMatchObject([{reason: 'FailedMount', message}]);
  expect(events).toContainEqual(expect.objectContaining({type: 'Warning', reason: 'FailedMount', message}));
  expect(status.containerStatuses?.map(({ready}) => ready)).toEqual([true]);
  expect(runtime.callsTo('StopContainer')).toEqual([]);
});
