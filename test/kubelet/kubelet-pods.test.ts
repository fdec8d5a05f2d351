import {expect, test} from 'vitest';
import type {Pod} from '../../src/api/v1.js';
import {podUid, type PodUid} from '../../src/cri/index.js';
import {KubeletPods, type KubeletPodsOptions} from '../../src/kubelet/kubelet-pods.js';
import type {RuntimePodStatus} from '../../src/kubelet/container/pod-status.js';
import type {SyncResult} from '../../src/kubelet/container/sync-result.js';
import type {PodRecord} from '../../src/kubelet/pod/pod-store.js';
import {DEFAULT_CONTAINER_GC} from '../../src/kubelet/kuberuntime/garbage.js';
import {aPod, aSandboxStatus, UID} from './kuberuntime/builders.js';
import {anInstance, aRuntimePod} from './status/runtime-facts.js';

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
    syncKnown: async () => {
      done.push('sync');
      return {runtime: NOTHING, status: {phase}, results};
    },
    endKnown: async (_: unknown, {isDeletion}: {isDeletion: boolean}) =>
      void done.push(isDeletion ? 'delete' : 'end'),
    concludeKnown: async () => void done.push('conclude'),
    settled: async () => undefined,
    removeGarbage: async ({containers}: {containers: readonly {name: string}[]}) => {
      const names = containers.map(({name}) => name).join(' ');
      done.push(`begin to remove ${names}`);
      await new Promise((resolve) => setImmediate(resolve));
      done.push(`removed ${names}`);
    },
    isLive: async () => runtime.isLive,
    removeUnlessLive: async () => {
      if (fails.removing) throw new Error('busy');
      if (runtime.isLive) return false;
      done.push('remove from the runtime');
      return true;
    },
  };
  const options = {
    local: {
      store: {
        put: async (record: PodRecord) => {
          kept = record;
          done.push('put record');
        },
        get: async () => kept,
        list: async () => ({records: [], gone: [], broken: [{uid, error: new Error('not JSON')}]}),
        uids: async () => [],
      },
      recordOf: (pod: Pod, source: string) => ({uid, namespace: 'default', name: 'web', source, pod}),
      syncer: () => syncer,
      removeRest: async () => void done.push('remove the rest'),
      removeResources: async () => void done.push('remove resources'),
      leave: async (record: PodRecord) => {
        kept = {...record, goneAt: new Date(time.ms).toISOString()};
        done.push('leave');
        return kept;
      },
      forget: async () => void done.push('forget'),
      unlessBusy: async (_: unknown, work: () => Promise<unknown>) => work(),
      keepActuated: async () => undefined,
    },
    pleg: {
      requestRelist: (id: PodUid) => void done.push(`look at ${id}`),
      runningPods: () => [],
      cache: {get: () => seen},
    },
    logger: {
      info: (message: string) => void said.push(message),
      error: (error: unknown, message: string) => void said.push(`${message}: ${(error as Error).message}`),
    },
    clock: {now: () => time.ms},
    networkError: () => undefined,
    pendingResize: () => undefined,
    isWanted: () => wanted.is,
    originOf: () => 'file.yaml',
  } as unknown as KubeletPodsOptions;
  const takeOver = (record: PodRecord | undefined): void => {
    kept = record;
  };
  return {pods: new KubeletPods(options), done, said, fails, time, wanted, runtime, takeOver};
}

test('a pod has a record before anything of it is made, written once', async () => {
  const {pods, done} = theirPods();
  const pod = aPod();
  await pods.syncPod(pod, NOTHING, signal);
  await pods.syncPod(pod, NOTHING, signal);
  expect(done).toEqual(['put record', 'sync', 'sync']);
  expect(pods.isOurs(uid)).toBe(true);
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
  await pods.remove(uid);
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
  await pods.remove(uid);
  expect(done).toEqual([
    ...['delete', `look at ${uid}`, 'conclude', 'remove resources'],
    ...['remove the rest', 'leave'],
  ]);
  expect({owned: pods.owned(), pod: pods.podOf(uid)}).toEqual({owned: [], pod: undefined});
  done.length = 0;
  time.ms += LATER_MS - 1;
  await pods.remove(uid);
  expect(done).toEqual([]);
  time.ms += 1;
  await pods.remove(uid);
  expect(done).toEqual(['remove from the runtime', 'forget']);
  expect(pods.isOurs(uid)).toBe(false);
});

test('a pod that is wanted again soon after it has gone is there again, with all that the runtime kept of it', async () => {
  const {pods, done, time} = theirPods();
  await pods.syncPod(aPod(), NOTHING, signal);
  await pods.remove(uid);
  done.length = 0;
  await pods.syncPod(aPod(), {...NOTHING, sandboxes: [aSandboxStatus()]}, signal);
  expect(done).toEqual(['put record', 'sync']);
  expect(pods.owned()).toHaveLength(1);
  time.ms += LATER_MS;
  await pods.remove(uid);
  expect(done.slice(2)).toEqual(['remove the rest', 'leave']);
});

test('a pod that is wanted again while it is removed waits for that', async () => {
  const {pods, done} = theirPods();
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  const removal = pods.remove(uid);
  await pods.syncPod(aPod(), NOTHING, signal);
  await removal;
  expect(done).toEqual(['remove the rest', 'leave', 'put record', 'sync']);
});

test('what is left of a pod that somebody else has made his own since is his', async () => {
  const {pods, done, time, takeOver} = theirPods();
  await pods.syncPod(aPod(), NOTHING, signal);
  const [record] = pods.owned();
  await pods.remove(uid);
  takeOver(record);
  done.length = 0;
  time.ms += LATER_MS;
  await pods.remove(uid);
  expect(done).toEqual([]);
  expect(pods.isOurs(uid)).toBe(false);
});

test.each([
  ['is wanted again', {isWanted: true, isLive: false}],
  ['runs again', {isWanted: false, isLive: true}],
])('what the runtime keeps of a gone pod that %s is not removed', async (_, {isWanted, isLive}) => {
  const {pods, done, time, wanted, runtime} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  await pods.remove(uid);
  done.length = 0;
  wanted.is = isWanted;
  runtime.isLive = isLive;
  time.ms += LATER_MS;
  expect(await pods.remove(uid)).toBe(true);
  expect(done).toEqual([]);
  expect(pods.isOurs(uid)).toBe(true);
});

test('of a pod that runs after all, which the last relist has not seen, nothing is removed', async () => {
  const {pods, done, runtime} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  runtime.isLive = true;
  expect(await pods.remove(uid)).toBe(true);
  expect(done).toEqual([`look at ${uid}`]);
  runtime.isLive = false;
  await pods.remove(uid);
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
  await pods.remove(uid);
  done.length = 0;
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual(then);
  expect(pods.isOurs(uid)).toBe(isOurs);
});

test('a gone pod that "kcri sync" has made again is neither ended nor made by the daemon', async () => {
  const {pods, done, takeOver} = theirPods({isWanted: false});
  await pods.syncPod(aPod(), NOTHING, signal);
  const [record] = pods.owned();
  if (record === undefined) throw new Error('no record');
  await pods.remove(uid);
  takeOver({...record, manager: undefined} as unknown as PodRecord);
  done.length = 0;
  await pods.syncTerminatingRuntimePod(RUNS);
  expect(done).toEqual([]);
  expect(pods.isOurs(uid)).toBe(false);
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
  await pods.remove(uid);
  time.ms += LATER_MS;
  fails.removing = true;
  await pods.remove(uid);
  expect(said).toEqual(['Failed to remove what is left of a pod: busy']);
  expect(pods.isOurs(uid)).toBe(true);
  fails.removing = false;
  await pods.remove(uid);
  expect(pods.isOurs(uid)).toBe(false);
});

test('a record that cannot be read is told of and keeps no other from being taken over', async () => {
  const {pods, said} = theirPods();
  await pods.load();
  expect(said).toEqual(['Could not read the record of a pod: not JSON']);
});

test('dead containers of one pod are removed in one round after the other', async () => {
  const seen = aRuntimePod([anInstance('main', 'CONTAINER_EXITED')]);
  const {pods, done} = theirPods({seen});
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  const rules = {policy: DEFAULT_CONTAINER_GC, now: 0, isUnwanted: () => true};
  await Promise.all([pods.removeDead(uid, rules), pods.removeDead(uid, rules)]);
  expect(done).toEqual(['begin to remove main', 'removed main', 'begin to remove main', 'removed main']);
});

test('a round that has waited removes nothing of a pod that is gone by then', async () => {
  const seen = aRuntimePod([anInstance('main', 'CONTAINER_EXITED')]);
  const {pods, done} = theirPods({seen});
  await pods.syncPod(aPod(), NOTHING, signal);
  done.length = 0;
  const rules = {policy: DEFAULT_CONTAINER_GC, now: 0, isUnwanted: () => true};
  const rounds = [pods.removeDead(uid, rules), pods.removeDead(uid, rules)];
  while (done.length === 0) await Promise.resolve();
  await pods.remove(uid);
  await Promise.all(rounds);
  expect(done).toEqual(['begin to remove main', 'remove the rest', 'leave', 'removed main']);
});
