import {EventEmitter, once} from 'node:events';
import {setImmediate as nextTurn} from 'node:timers/promises';
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
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import type {SyncResult} from '../../../../src/kubelet/contract/sync-result.js';
import type {PodRecord} from '../../../../src/kubelet/pods/registry/pod-store.js';
import {DEFAULT_CONTAINER_GC_POLICY} from '../../../../src/kubelet/pods/gc/container-gc.js';
import {aPod, UID} from '../../../fakes/a-pod.js';
import {anInstance, aRuntimePod, aSandboxStatus, NO_RUNTIME_POD} from '../../../fakes/a-runtime-pod.js';
import {fakeLogger} from '../../../base/fake-logger.js';

const uid = podUid(UID);
const signal = new AbortController().signal;
const STARTED: SyncResult = {action: 'StartContainer', target: 'main'};

/** Returns a handler whose dependencies are fakes that record their calls. */
function createHandler({
  results = [],
  phase = 'Running',
  seen = NO_RUNTIME_POD,
  isWanted = true,
  onSync,
}: {
  results?: readonly SyncResult[];
  phase?: string;
  seen?: RuntimePodStatus;
  isWanted?: boolean;
  onSync?: (name: string | undefined, onDirsMade?: () => void) => Promise<void>;
} = {}) {
  const done: string[] = [];
  const logs: string[] = [];
  const fails = {removing: false};
  const time = {ms: 0};
  const wanted = {is: isWanted};
  const runtime = {isLive: false};
  let storedRecord: PodRecord | undefined;
  const syncer = {
    pod: undefined as Pod | undefined,
    syncPod: async () => {
      done.push('sync');
      return {runtime: NO_RUNTIME_POD, status: {phase}, results};
    },
    syncTerminatingPod: async (_: unknown, {isDeletion}: {isDeletion: boolean}) =>
      void done.push(isDeletion ? 'delete' : 'end'),
    syncTerminatedPod: async () => void done.push('conclude'),
    flush: async () => undefined,
    recordUnmount: () => undefined,
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
      takeOverPods: async () => [],
      moveRecords: async () => [],
      store: {
        put: async (record: PodRecord) => {
          storedRecord = record;
          done.push('put record');
        },
        get: async () => storedRecord,
        list: async () => ({records: [], removed: [], broken: [{uid, error: new Error('not JSON')}]}),
        uids: async () => [],
      },
      createRecord: (pod: Pod, source: string) => ({...podRef(pod), source, pod}),
      createSyncer: (pod: Pod) =>
        onSync === undefined
          ? syncer
          : {
              ...syncer,
              syncPod: async (_: unknown, {onDirsMade}: {onDirsMade?: () => void}) => {
                await onSync(pod.metadata.name, onDirsMade);
                return await syncer.syncPod();
              },
            },
      remover: {
        removeFromNode: async () => void done.push('remove the rest'),
        removeVolumesAndCgroup: async () => void done.push('remove resources'),
        markRemoved: async (record: PodRecord) => {
          storedRecord = {...record, removedAt: new Date(time.ms).toISOString()};
          done.push('leave');
          return storedRecord;
        },
        forget: async () => void done.push('forget'),
      },
      locks: {tryWithPodLock: async (_: unknown, work: () => Promise<unknown>) => work()},
      ensureActuatedResources: async () => undefined,
    },
    pleg: {
      requestRelist: (id: PodUid) => void done.push(`look at ${id}`),
      runningPods: () => [],
      cache: {get: () => seen, lastSeen: () => seen},
    },
    logger: fakeLogger({
      info: (message) => void logs.push(message),
      error: (error, message) => void logs.push(`${message}: ${(error as Error).message}`),
    }),
    clock: {
      now: () => time.ms,
      sleep: async (_: number, end: AbortSignal) => {
        await once(end, 'abort');
        end.throwIfAborted();
      },
    },
    networkError: () => undefined,
    resizeReview: () => undefined,
    syncFrequencyMs: {current: 60_000},
    isWanted: () => wanted.is,
    originOf: () => 'file.yaml',
    metrics: NO_METRICS,
  } as unknown as Omit<ManagedPodSyncHandlerOptions, 'own' | 'orphans'> &
    Omit<ConstructorParameters<typeof OrphanedPods>[0], 'own'> &
    ManagedPodsOptions;
  const own = new ManagedPods(parts);
  const orphans = new OrphanedPods({...parts, own, signal: new AbortController().signal});
  const setStoredRecord = (record: PodRecord | undefined): void => {
    storedRecord = record;
  };
  return {
    pods: new ManagedPodSyncHandler({...parts, own, orphans}),
    own,
    done,
    logs,
    fails,
    time,
    wanted,
    runtime,
    setStoredRecord,
  };
}

test('the record of a pod is written once, before anything is created for it', async () => {
  const {pods, done} = createHandler();
  const pod = aPod();
  await pods.syncPod(pod, NO_RUNTIME_POD, signal);
  await pods.syncPod(pod, NO_RUNTIME_POD, signal);
  expect(done).toEqual(['put record', 'sync', 'sync']);
  expect(pods.isManaged(uid)).toBe(true);
});

test('statuses that come back from the API server write no record, while its other changes do', async () => {
  const {pods, own, done} = createHandler();
  const version = (number: number, metadata: Pod['metadata'] = {}): Pod => {
    const pod = aPod();
    const managedFields = [{manager: 'kcri', time: `2026-05-01T12:00:0${number}Z`}];
    return {
      ...pod,
      metadata: {...pod.metadata, resourceVersion: String(number), managedFields, ...metadata},
      status: {phase: number === 1 ? 'Pending' : 'Running', startTime: `2026-05-01T12:00:0${number}Z`},
    };
  };
  const writes = (): number => done.filter((step) => step === 'put record').length;
  for (const number of [1, 2, 3, 4, 5]) await pods.syncPod(version(number), NO_RUNTIME_POD, signal);
  expect(writes()).toBe(1);
  // The desired pod is the newest one, even without a write.
  expect(own.getSyncer(uid)?.pod).toEqual(version(5));
  expect(own.get(uid)?.pod).toEqual(version(5));
  await pods.syncPod(version(6, {labels: {app: 'changed'}}), NO_RUNTIME_POD, signal);
  await pods.syncPod(version(7, {labels: {app: 'changed'}, generation: 2}), NO_RUNTIME_POD, signal);
  await pods.syncTerminatingPod(
    version(8, {labels: {app: 'changed'}, generation: 2, deletionTimestamp: '2026-05-01T12:00:08Z'}),
    NO_RUNTIME_POD,
    {gracePeriodSeconds: 1, status: undefined},
  );
  expect(writes()).toBe(4);
});

test.each([
  ['that changed it', [STARTED], true],
  ['without actions', [], false],
])('a sync of a pod %s says so', async (_title, results, hasActed) => {
  const {pods} = createHandler({results});
  expect(await pods.syncPod(aPod(), NO_RUNTIME_POD, signal)).toEqual(
    expect.objectContaining({isTerminal: false, hasActed}),
  );
});

test('a pod that has succeeded is reported as terminal', async () => {
  const {pods} = createHandler({phase: 'Succeeded'});
  expect(await pods.syncPod(aPod(), NO_RUNTIME_POD, signal)).toMatchObject({isTerminal: true});
});

test('failures are reported together, with the end of the earliest back-off', async () => {
  const failed = (target: string, retryAt?: number): SyncResult => ({
    action: 'StartContainer',
    target,
    failure: {reason: 'CrashLoopBackOff', message: `back-off ${target}`, ...(retryAt && {retryAt})},
  });
  const {pods} = createHandler({results: [failed('a', 5000), failed('b', 2000), failed('c')]});
  const outcome = await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  expect(outcome.retryAt).toBe(2000);
  expect(String(outcome.error)).toMatch(/back-off a.*back-off b.*back-off c/);
});

test('a pod whose UID is in use by a foreign pod is rejected and left unchanged', async () => {
  const {pods, done} = createHandler();
  const foreign = {...NO_RUNTIME_POD, sandboxes: [aSandboxStatus()]};
  await expect(pods.syncPod(aPod(), foreign, signal)).rejects.toThrow(
    /the UID ".*" is in use by a pod that this kubelet did not create/,
  );
  await pods.syncTerminatingPod(aPod(), foreign, {gracePeriodSeconds: 1, status: undefined});
  await pods.syncTerminatedPod(aPod(), foreign, signal);
  await pods.removeOrphan(uid);
  expect(done).toEqual([]);
});

/** Period of container GC, after which the runtime's containers of a removed pod are deleted. */
const LATER_MS = 60_000;

test('a deleted pod is stopped, its resources are released, and later its containers and record are removed', async () => {
  const {pods, done, time, wanted} = createHandler();
  const pod = aPod();
  await pods.syncPod(pod, NO_RUNTIME_POD, signal);
  done.length = 0;
  wanted.is = false;
  await pods.syncTerminatingPod(pod, NO_RUNTIME_POD, {gracePeriodSeconds: 1, status: undefined});
  await pods.syncTerminatedPod(pod, NO_RUNTIME_POD, signal);
  time.ms += 25_000;
  await pods.removeOrphan(uid);
  expect(done).toEqual(['delete', 'conclude', 'remove resources', 'remove the rest', 'leave']);
  expect({owned: pods.presentRecords(), pod: pods.getPod(uid)}).toEqual({owned: [], pod: undefined});
  done.length = 0;
  time.ms += LATER_MS - 25_001;
  await pods.removeOrphan(uid);
  expect(done).toEqual([]);
  time.ms += 1;
  await pods.removeOrphan(uid);
  expect(done).toEqual(['remove from the runtime', 'forget']);
  expect(pods.isManaged(uid)).toBe(false);
});

test('a pod that is added again soon after its removal keeps its containers', async () => {
  const {pods, done, time} = createHandler();
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  await pods.removeOrphan(uid);
  done.length = 0;
  const sandboxes = [aSandboxStatus({createdAt: 0n})];
  await pods.syncPod(aPod(), {...NO_RUNTIME_POD, sandboxes}, signal);
  expect(done).toEqual(['put record', 'sync']);
  expect(pods.presentRecords()).toHaveLength(1);
  time.ms += LATER_MS;
  await pods.removeOrphan(uid);
  expect(done.slice(2)).toEqual(['remove the rest', 'leave']);
});

test('a pod that is added again during its removal waits for the removal', async () => {
  const {pods, done} = createHandler();
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  done.length = 0;
  const removal = pods.removeOrphan(uid);
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  await removal;
  expect(done).toEqual(['remove the rest', 'leave', 'put record', 'sync']);
});

test('a removed pod whose record another process has claimed is left to that process', async () => {
  const {pods, done, time, setStoredRecord} = createHandler();
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  const [record] = pods.presentRecords();
  await pods.removeOrphan(uid);
  setStoredRecord(record);
  done.length = 0;
  time.ms += LATER_MS;
  await pods.removeOrphan(uid);
  expect(done).toEqual([]);
  expect(pods.isManaged(uid)).toBe(false);
});

test.each([
  ['is wanted again', {isWanted: true, isLive: false}],
  ['runs again', {isWanted: false, isLive: true}],
])('the containers of a removed pod that %s are not deleted', async (_, {isWanted, isLive}) => {
  const {pods, done, time, wanted, runtime} = createHandler({isWanted: false});
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  await pods.removeOrphan(uid);
  done.length = 0;
  wanted.is = isWanted;
  runtime.isLive = isLive;
  time.ms += LATER_MS;
  expect(await pods.removeOrphan(uid)).toBe(true);
  expect(done).toEqual([]);
  expect(pods.isManaged(uid)).toBe(true);
});

test('nothing is removed of a pod that runs although the last relist did not see it', async () => {
  const {pods, done, runtime} = createHandler({isWanted: false});
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
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
  ['after its removal is left to its owner', 1n, ['forget'], false],
  ['before its removal is terminated', -1n, ['delete'], true],
])('a running pod created %s', async (_, ms, then, isOurs) => {
  const removedAtMs = Date.parse('2026-05-01T12:00:00Z');
  const createdAt = (BigInt(removedAtMs) + ms) * NANOS_PER_MS;
  const seen = {...NO_RUNTIME_POD, sandboxes: [aSandboxStatus({createdAt})]};
  const {pods, done, time} = createHandler({isWanted: false, seen});
  time.ms = removedAtMs;
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  await pods.removeOrphan(uid);
  done.length = 0;
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual(then);
  expect(pods.isManaged(uid)).toBe(isOurs);
});

test('a removed pod that "kcri sync" has created again is neither terminated nor managed by the daemon', async () => {
  const {pods, done, setStoredRecord} = createHandler({isWanted: false});
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  const [record] = pods.presentRecords();
  if (record === undefined) throw new Error('no record');
  await pods.removeOrphan(uid);
  setStoredRecord({...record, manager: undefined} as unknown as PodRecord);
  done.length = 0;
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual([]);
  expect(pods.isManaged(uid)).toBe(false);
});

test('an orphaned pod is deleted, even if its manifest was removed while no daemon ran', async () => {
  const {pods, done} = createHandler({isWanted: false});
  const pod = aPod();
  await pods.syncPod(pod, NO_RUNTIME_POD, signal);
  done.length = 0;
  await pods.syncTerminatingPod(pod, NO_RUNTIME_POD, {gracePeriodSeconds: 1, status: undefined});
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual(['delete', 'delete']);
});

test('a failed removal is logged and retried', async () => {
  const {pods, logs, fails, time} = createHandler({isWanted: false});
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  await pods.removeOrphan(uid);
  time.ms += LATER_MS;
  fails.removing = true;
  await pods.removeOrphan(uid);
  expect(logs).toEqual(['Failed to clean up orphaned pod: busy']);
  expect(pods.isManaged(uid)).toBe(true);
  fails.removing = false;
  await pods.removeOrphan(uid);
  expect(pods.isManaged(uid)).toBe(false);
});

test('an unreadable record is logged and does not prevent others from being loaded', async () => {
  const {own, logs} = createHandler();
  await own.load(new AbortController().signal);
  expect(logs).toEqual(['Failed to read pod record: not JSON']);
});

test('a waiting removal of dead containers does nothing once the pod has been removed', async () => {
  const seen = aRuntimePod([anInstance('main', 'CONTAINER_EXITED')]);
  const {pods, done} = createHandler({seen});
  await pods.syncPod(aPod(), NO_RUNTIME_POD, signal);
  done.length = 0;
  const rules = {policy: DEFAULT_CONTAINER_GC_POLICY, now: 0, isUnwanted: () => true};
  const rounds = [pods.removeDeadContainers(uid, rules), pods.removeDeadContainers(uid, rules)];
  while (done.length === 0) await Promise.resolve();
  await pods.removeOrphan(uid);
  await Promise.all(rounds);
  expect(done).toEqual(['begin to remove main', 'remove the rest', 'leave', 'removed main']);
});

/** Returns a pod with a UID made of its name. */
function aNamedPod(name: string): Pod {
  const pod = aPod();
  return {...pod, metadata: {...pod.metadata, name, uid: `uid-${name}`}};
}

test('four pods at a time are prepared for their first sandbox, in the order in which they came', async () => {
  const begun: (string | undefined)[] = [];
  const made = new Map<string | undefined, () => void>();
  const end = new EventEmitter();
  const {pods} = createHandler({
    onSync: async (name, onDirsMade) => {
      begun.push(name);
      if (onDirsMade !== undefined) made.set(name, onDirsMade);
      await once(end, 'end');
    },
  });
  const sync = async (name: string, status: RuntimePodStatus): Promise<unknown> =>
    pods.syncPod(aNamedPod(name), status, signal);
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const synced = names.map(async (name) => sync(name, NO_RUNTIME_POD));
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(begun).toEqual(['a', 'b', 'c', 'd']);

  // A pod with a sandbox does not wait.
  synced.push(sync('b', {...NO_RUNTIME_POD, sandboxes: [aSandboxStatus()]}));
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'b']);

  for (const [released, next] of Object.entries({c: 'e', a: 'f'})) {
    made.get(released)?.();
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(begun.at(-1)).toBe(next);
  }
  end.emit('end');
  await Promise.all(synced);
  expect(begun).toHaveLength(names.length + 1);
});
