import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import {
  ManagedPodSyncHandler,
  type ManagedPodSyncHandlerOptions,
} from '../../../../src/kubelet/pods/workers/managed-pod-sync-handler.js';
import {NO_METRICS} from '../../../../src/kubelet/contract/kubelet-metrics.js';
import {OrphanedPods} from '../../../../src/kubelet/pods/gc/orphaned-pods.js';
import {ManagedPods, type ManagedPodsOptions} from '../../../../src/kubelet/pods/registry/managed-pods.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import type {SyncResult} from '../../../../src/kubelet/contract/sync-result.js';
import type {PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';
import {DEFAULT_CONTAINER_GC_POLICY} from '../../../../src/kubelet/pods/gc/container-gc.js';
import {aPod, aSandboxStatus, UID} from '../../pod-builders.js';
import {anInstance, aRuntimePod} from '../runtime-pod-builders.js';
import {fakeLogger} from '../../../base/fake-logger.js';

const uid = podUid(UID);
const signal = new AbortController().signal;
const NOTHING: RuntimePodStatus = {uid, name: '', namespace: '', sandboxes: [], containers: [], ips: []};
const STARTED: SyncResult = {action: 'StartContainer', target: 'main'};

/** The pods of a daemon, of which a test sees what they have others do. */
function theirPods({
  results = [],
  phase = 'Running',
  seen = NOTHING,
  isWanted = true,
}: {
  results?: readonly SyncResult[];
  phase?: string;
  seen?: RuntimePodStatus;
  isWanted?: boolean;
} = {}) {
  const done: string[] = [];
  const said: string[] = [];
  const fails = {removing: false};
  const time = {ms: 0};
  const wanted = {is: isWanted};
  const runtime = {isLive: false};
  let kept: PodRecord | undefined;
  const syncer = {
    pod: undefined as Pod | undefined,
    syncPod: async () => {
      done.push('sync');
      return {runtime: NOTHING, status: {phase}, results};
    },
    syncTerminatingPod: async (_: unknown, {isDeletion}: {isDeletion: boolean}) =>
      void done.push(isDeletion ? 'delete' : 'end'),
    syncTerminatedPod: async () => void done.push('conclude'),
    flush: async () => undefined,
    removeGarbage: async ({containers}: {containers: readonly {name: string}[]}) => {
      const names = containers.map(({name}) => name).join(' ');
      done.push(`begin to remove ${names}`);
      await new Promise((resolve) => setImmediate(resolve));
      done.push(`removed ${names}`);
    },
    isLive: async () => runtime.isLive,
    removeIfNotLive: async () => {
      if (fails.removing) throw new Error('busy');
      if (runtime.isLive) return false;
      done.push('remove from the runtime');
      return true;
    },
  };
  const parts = {
    local: {
      store: {
        put: async (record: PodRecord) => {
          kept = record;
          done.push('put record');
        },
        get: async () => kept,
        list: async () => ({records: [], removed: [], broken: [{uid, error: new Error('not JSON')}]}),
        uids: async () => [],
      },
      createRecord: (pod: Pod, source: string) => ({uid, namespace: 'default', name: 'web', source, pod}),
      createSyncer: () => syncer,
      remover: {
        removeFromNode: async () => void done.push('remove the rest'),
        removeVolumesAndCgroup: async () => void done.push('remove resources'),
        markRemoved: async (record: PodRecord) => {
          kept = {...record, goneAt: new Date(time.ms).toISOString()};
          done.push('leave');
          return kept;
        },
        forget: async () => void done.push('forget'),
      },
      tryWithPodLock: async (_: unknown, work: () => Promise<unknown>) => work(),
      ensureActuatedResources: async () => undefined,
    },
    pleg: {
      requestRelist: (id: PodUid) => void done.push(`look at ${id}`),
      runningPods: () => [],
      cache: {get: () => seen},
    },
    logger: fakeLogger({
      info: (message) => void said.push(message),
      error: (error, message) => void said.push(`${message}: ${(error as Error).message}`),
    }),
    clock: {now: () => time.ms},
    networkError: () => undefined,
    pendingResize: () => undefined,
    isWanted: () => wanted.is,
    originOf: () => 'file.yaml',
    metrics: NO_METRICS,
  } as unknown as Omit<ManagedPodSyncHandlerOptions, 'own' | 'gone'> &
    Omit<ConstructorParameters<typeof OrphanedPods>[0], 'own'> &
    ManagedPodsOptions;
  const own = new ManagedPods(parts);
  const gone = new OrphanedPods({...parts, own});
  const takeOver = (record: PodRecord | undefined): void => {
    kept = record;
  };
  return {
    pods: new ManagedPodSyncHandler({...parts, own, gone}),
    own,
    done,
    said,
    fails,
    time,
    wanted,
    runtime,
    takeOver,
  };
}

test('a pod has a record before anything of it is made, written once', async () => {
  const {pods, done} = theirPods();
  const pod = aPod();
  await pods.syncPod(pod, NOTHING, signal);
  await pods.syncPod(pod, NOTHING, signal);
  expect(done).toEqual(['put record', 'sync', 'sync']);
  expect(pods.isManaged(uid)).toBe(true);
});

test('a pod of which something was done is looked at', async () => {
  const {pods, done} = theirPods({results: [STARTED]});
  expect(await pods.syncPod(aPod(), NOTHING, signal)).toMatchObject({isTerminal: false});
  expect(done).toEqual(['put record', 'sync', `look at ${uid}`]);
});

test('a pod that has run to its end is said to be so', async () => {
  const {pods} = theirPods({phase: 'Succeeded'});
  expect(await pods.syncPod(aPod(), NOTHING, signal)).toMatchObject({isTerminal: true});
});

test('what has failed is told together, with the end of the earliest back-off', async () => {
  const failed = (target: string, retryAt?: number): SyncResult => ({
    action: 'StartContainer',
    target,
    failure: {reason: 'CrashLoopBackOff', message: `back-off ${target}`, ...(retryAt && {retryAt})},
  });
  const {pods} = theirPods({results: [failed('a', 5000), failed('b', 2000), failed('c')]});
  const outcome = await pods.syncPod(aPod(), NOTHING, signal);
  expect(outcome.retryAt).toBe(2000);
  expect(String(outcome.error)).toMatch(/back-off a.*back-off b.*back-off c/);
});

test("a pod whose UID runs already as somebody else's is refused, and nothing of it is changed", async () => {
  const {pods, done} = theirPods();
  const foreign = {...NOTHING, sandboxes: [aSandboxStatus()]};
  await expect(pods.syncPod(aPod(), foreign, signal)).rejects.toThrow(
    /a pod with the UID ".*" is in the runtime already and was not made by this kubelet/,
  );
  await pods.syncTerminatingPod(aPod(), foreign, {gracePeriodSeconds: 1, status: undefined});
  await pods.syncTerminatedPod(aPod(), foreign);
  await pods.removeOrphan(uid);
  expect(done).toEqual([]);
});

/** Longer than the runtime keeps what is left of a pod. */
const LATER_MS = 10_000;

test('a pod that ends is stopped, concluded, its resources freed, and at last removed and forgotten', async () => {
  const {pods, done, time, wanted} = theirPods();
  const pod = aPod();
  await pods.syncPod(pod, NOTHING, signal);
  done.length = 0;
  wanted.is = false;
  await pods.syncTerminatingPod(pod, NOTHING, {gracePeriodSeconds: 1, status: undefined});
  await pods.syncTerminatedPod(pod, NOTHING);
  await pods.removeOrphan(uid);
  expect(done).toEqual([
    ...['delete', `look at ${uid}`, 'conclude', 'remove resources'],
    ...['remove the rest', 'leave'],
  ]);
  expect({owned: pods.presentRecords(), pod: pods.getPod(uid)}).toEqual({owned: [], pod: undefined});
  done.length = 0;
  time.ms += LATER_MS - 1;
  await pods.removeOrphan(uid);
  expect(done).toEqual([]);
  time.ms += 1;
  await pods.removeOrphan(uid);
  expect(done).toEqual(['remove from the runtime', 'forget']);
  expect(pods.isManaged(uid)).toBe(false);
});

test('a pod that is wanted again soon after it has gone is there again, with all that the runtime kept of it', async () => {
  const {pods, done, time} = theirPods();
  await pods.syncPod(aPod(), NOTHING, signal);
  await pods.removeOrphan(uid);
  done.length = 0;
  await pods.syncPod(aPod(), {...NOTHING, sandboxes: [aSandboxStatus()]}, signal);
  expect(done).toEqual(['put record', 'sync']);
  expect(pods.presentRecords()).toHaveLength(1);
  time.ms += LATER_MS;
  await pods.removeOrphan(uid);
  expect(done.slice(2)).toEqual(['remove the rest', 'leave']);
});

test('a pod that is wanted again while it is removed waits for that', async () => {
  const {pods, done} = theirPods();
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  const removal = pods.removeOrphan(uid);
  await pods.syncPod(aPod(), NOTHING, signal);
  await removal;
  expect(done).toEqual(['remove the rest', 'leave', 'put record', 'sync']);
});

test('what is left of a pod that somebody else has made his own since is his', async () => {
  const {pods, done, time, takeOver} = theirPods();
  await pods.syncPod(aPod(), NOTHING, signal);
  const [record] = pods.presentRecords();
  await pods.removeOrphan(uid);
  takeOver(record);
  done.length = 0;
  time.ms += LATER_MS;
  await pods.removeOrphan(uid);
  expect(done).toEqual([]);
  expect(pods.isManaged(uid)).toBe(false);
});

test.each([
  ['is wanted again', {isWanted: true, isLive: false}],
  ['runs again', {isWanted: false, isLive: true}],
])('what the runtime keeps of a gone pod that %s is not removed', async (_, {isWanted, isLive}) => {
  const {pods, done, time, wanted, runtime} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  await pods.removeOrphan(uid);
  done.length = 0;
  wanted.is = isWanted;
  runtime.isLive = isLive;
  time.ms += LATER_MS;
  expect(await pods.removeOrphan(uid)).toBe(true);
  expect(done).toEqual([]);
  expect(pods.isManaged(uid)).toBe(true);
});

test('of a pod that runs after all, which the last relist has not seen, nothing is removed', async () => {
  const {pods, done, runtime} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  runtime.isLive = true;
  expect(await pods.removeOrphan(uid)).toBe(true);
  expect(done).toEqual([`look at ${uid}`]);
  runtime.isLive = false;
  await pods.removeOrphan(uid);
  expect(done.slice(1)).toEqual(['remove the rest', 'leave']);
});

const RUNS = {uid, name: 'web', namespace: 'default', isRunning: true};
const NANOS_PER_MS = 1_000_000n;

test.each([
  ['since then is left to whoever made it', 1n, ['forget'], false],
  ['before is ended', -1n, ['delete'], true],
])('of a gone pod, what was made %s', async (_, ms, then, isOurs) => {
  const goneAtMs = Date.parse('2026-05-01T12:00:00Z');
  const createdAt = (BigInt(goneAtMs) + ms) * NANOS_PER_MS;
  const seen = {...NOTHING, sandboxes: [{...aSandboxStatus(), createdAt}]};
  const {pods, done, time} = theirPods({isWanted: false, seen});
  time.ms = goneAtMs;
  await pods.syncPod(aPod(), NOTHING, signal);
  await pods.removeOrphan(uid);
  done.length = 0;
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual(then);
  expect(pods.isManaged(uid)).toBe(isOurs);
});

test('a gone pod that "kcri sync" has made again is neither ended nor made by the daemon', async () => {
  const {pods, done, takeOver} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  const [record] = pods.presentRecords();
  if (record === undefined) throw new Error('no record');
  await pods.removeOrphan(uid);
  takeOver({...record, manager: undefined} as unknown as PodRecord);
  done.length = 0;
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual([]);
  expect(pods.isManaged(uid)).toBe(false);
});

test('a pod that nobody wants any more is deleted, also when its manifest went while no daemon ran', async () => {
  const {pods, done} = theirPods({isWanted: false});
  const pod = aPod();
  await pods.syncPod(pod, NOTHING, signal);
  done.length = 0;
  await pods.syncTerminatingPod(pod, NOTHING, {gracePeriodSeconds: 1, status: undefined});
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual(['delete', `look at ${uid}`, 'delete']);
});

test('what could not be removed is told of and stays to be removed', async () => {
  const {pods, said, fails, time} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  await pods.removeOrphan(uid);
  time.ms += LATER_MS;
  fails.removing = true;
  await pods.removeOrphan(uid);
  expect(said).toEqual(['Failed to remove what is left of a pod: busy']);
  expect(pods.isManaged(uid)).toBe(true);
  fails.removing = false;
  await pods.removeOrphan(uid);
  expect(pods.isManaged(uid)).toBe(false);
});

test('a record that cannot be read is told of and keeps no other from being taken over', async () => {
  const {own, said} = theirPods();
  await own.load();
  expect(said).toEqual(['Could not read the record of a pod: not JSON']);
});

test('dead containers of one pod are removed in one round after the other', async () => {
  const seen = aRuntimePod([anInstance('main', 'CONTAINER_EXITED')]);
  const {pods, done} = theirPods({seen});
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  const rules = {policy: DEFAULT_CONTAINER_GC_POLICY, now: 0, isUnwanted: () => true};
  await Promise.all([pods.removeDeadContainers(uid, rules), pods.removeDeadContainers(uid, rules)]);
  expect(done).toEqual(['begin to remove main', 'removed main', 'begin to remove main', 'removed main']);
});

test('a round that has waited removes nothing of a pod that is gone by then', async () => {
  const seen = aRuntimePod([anInstance('main', 'CONTAINER_EXITED')]);
  const {pods, done} = theirPods({seen});
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  const rules = {policy: DEFAULT_CONTAINER_GC_POLICY, now: 0, isUnwanted: () => true};
  const rounds = [pods.removeDeadContainers(uid, rules), pods.removeDeadContainers(uid, rules)];
  while (done.length === 0) await Promise.resolve();
  await pods.removeOrphan(uid);
  await Promise.all(rounds);
  expect(done).toEqual(['begin to remove main', 'remove the rest', 'leave', 'removed main']);
});
