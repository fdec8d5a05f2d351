import {expect, test} from 'vitest';
import {SystemError} from '../../../../src/base/errors.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import type {RunningPod} from '../../../../src/kubelet/contract/pleg.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import type {SyncOutcome} from '../../../../src/kubelet/pods/workers/worker-state.js';
import {until} from '../../../base/until.js';
import {aPod, UID} from '../../../fakes/a-pod.js';

import {SYNCED, createWorkers, emptyStatus} from './pod-workers-testbed.js';

const uid = podUid(UID);
const running: RunningPod = {uid, name: 'web', namespace: 'default', isRunning: true};
const settle = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
};

test('a pod goes from sync through terminating to terminated and never back', async () => {
  const {workers, done, handler} = createWorkers();
  workers.update({type: 'create', pod: aPod()});
  await settle();
  let completed = false;
  workers.update({
    type: 'kill',
    pod: aPod(),
    kill: {
      onCompleted: () => {
        completed = true;
      },
    },
  });
  await settle();
  expect(completed).toBe(true);
  workers.update({type: 'sync', pod: aPod()});
  workers.update({type: 'update', pod: aPod()});
  await settle();
  expect(handler.done).toEqual(['sync web', 'terminating 30', 'terminated']);
  expect(done).toHaveLength(3);
  expect(workers.isTerminated(uid)).toBe(true);
});

test('updates during a sync cause one more sync, of the newest pod', async () => {
  const {workers, done, handler} = createWorkers();
  const finish = handler.holdSyncs();
  workers.update({type: 'create', pod: aPod()});
  await settle();
  workers.update({type: 'sync', pod: aPod()});
  workers.update({type: 'update', pod: aPod({}, {name: 'changed'})});
  await settle();
  expect(done).toEqual(['sync web']);
  finish();
  await settle();
  expect(done).toEqual(['sync web', 'sync changed']);
  finish();
});

test('an update in the same microtask in which the worker becomes idle is not lost', async () => {
  const {workers, done, handler} = createWorkers();
  for (let turns = 0; turns < 12; turns += 1) {
    done.length = 0;
    const finish = handler.holdSyncs();
    workers.update({type: 'update', pod: aPod()});
    await settle();
    finish();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    workers.update({type: 'sync', pod: aPod()});
    await settle();
    expect(done).toEqual(['sync web', 'sync web']);
    finish();
    await settle();
  }
});

test('terminating a pod aborts its sync, and a shorter grace period aborts the termination', async () => {
  const {workers, done, handler} = createWorkers();
  handler.sync = (_pod, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  workers.update({type: 'create', pod: aPod()});
  await settle();
  let ended = (): void => undefined;
  handler.terminating = () =>
    new Promise((_resolve, reject) => {
      ended = () => {
        reject(new Error('it still runs'));
      };
    });
  workers.update({type: 'kill', pod: aPod(), kill: {gracePeriodSeconds: 20}});
  await settle();
  expect(done).toEqual(['sync web', 'terminating 20']);
  workers.update({type: 'kill', pod: aPod(), kill: {gracePeriodSeconds: 5}});
  ended();
  await settle();
  expect(done.at(-1)).toBe('terminating 5');
  ended();
});

test('a pod that has succeeded is terminated', async () => {
  const {workers, done, handler} = createWorkers();
  handler.sync = async () => ({...SYNCED, isTerminal: true});
  workers.update({type: 'create', pod: aPod()});
  await settle();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated']);
});

test('a status that cannot be read is recorded as FailedSync, and the sync is retried', async () => {
  let fails = false;
  const {workers, done, clock, events} = createWorkers({
    getNewerThan: async (id) => {
      if (fails) throw new Error('rpc error');
      return emptyStatus(id);
    },
  });
  workers.update({type: 'create', pod: aPod()});
  await settle();
  clock.elapse(5000);
  fails = true;
  workers.update({type: 'sync', pod: aPod()});
  await settle();
  expect(done).toEqual(['sync web']);
  expect(events).toMatchObject([{reason: 'FailedSync', message: 'error determining status: rpc error'}]);
  expect(workers.takeDue()).toEqual([]);
  clock.elapse(10_000);
  expect(workers.takeDue()).toEqual([uid]);
});

test('a pod is due after the sync frequency and at the end of a back-off', async () => {
  const {workers, clock, handler} = createWorkers();
  workers.update({type: 'create', pod: aPod()});
  await settle();
  clock.elapse(59_999);
  expect(workers.takeDue()).toEqual([]);
  clock.elapse(1);
  expect(workers.takeDue()).toEqual([uid]);
  expect(workers.takeDue()).toEqual([]);
  handler.sync = async () => ({
    ...SYNCED,
    error: new Error('back-off'),
    retryAt: clock.now() + 20_000,
  });
  workers.update({type: 'sync', pod: aPod()});
  await settle();
  expect(workers.report(uid)).toEqual({
    kind: 'sync',
    isWorking: false,
    waitsFor: undefined,
    terminatingAt: undefined,
    gracePeriodSeconds: 0,
    lastSyncAt: clock.now(),
    nextSyncAt: clock.now() + 20_000,
    error: new Error('back-off'),
  });
});

test('a sync needs a status newer than the last one that may have changed the pod, and a relist follows that', async () => {
  const {workers, handler, newerThan, relists} = createWorkers();
  const sync = async (outcome: () => Promise<SyncOutcome>): Promise<void> => {
    handler.sync = outcome;
    workers.update({type: 'sync', pod: aPod()});
    await settle();
  };
  await sync(async () => SYNCED);
  await sync(async () => ({isTerminal: false, hasActed: false}));
  await sync(() => Promise.reject(new Error('no runtime')));
  await sync(async () => SYNCED);
  expect(newerThan).toEqual([0, 1, 1, 2]);
  // What a relist reads is newer than the work before it.
  expect(relists).toEqual([1, 3]);
});

test.each([
  ['follows a termination', true, {newerThan: [0, 1], relists: [1]}],
  ['does not follow a termination that was skipped', false, {newerThan: [0, 0], relists: []}],
])('a relist %s', async (_title, hasActed, expected) => {
  const {workers, handler, newerThan, relists} = createWorkers();
  handler.terminating = async () => hasActed;
  workers.update({type: 'kill', pod: aPod()});
  await settle();
  expect({newerThan, relists}).toEqual(expected);
});

test('a sync that requests another sync gets it immediately', async () => {
  const {workers, done, handler} = createWorkers();
  handler.sync = async () => ({...SYNCED, syncAgain: done.length < 2});
  workers.update({type: 'create', pod: aPod()});
  await settle();
  expect(done).toEqual(['sync web', 'sync web']);
});

test('a failed termination is retried without an update', async () => {
  const {workers, done, clock, handler} = createWorkers();
  handler.terminating = () => Promise.reject(new Error('the runtime is away'));
  workers.update({type: 'create', pod: aPod()});
  workers.update({type: 'kill', pod: aPod()});
  await settle();
  expect(done).toEqual(['sync web', 'terminating 30']);
  handler.terminating = async () => true;
  clock.elapse(10_000);
  expect(workers.takeDue()).toEqual([]);
  await settle();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminating 30', 'terminated']);
});

test('the finished worker of a pod that is added again during its termination is removed by housekeeping', async () => {
  const {workers, done} = createWorkers();
  workers.update({type: 'create', pod: aPod()});
  workers.update({type: 'kill', pod: aPod()});
  workers.update({type: 'create', pod: aPod()});
  await settle();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated']);
  expect(workers.isKnown(uid)).toBe(true);
  workers.syncKnownPods(new Set([uid]));
  expect(workers.isKnown(uid)).toBe(false);
});

test('housekeeping terminates orphaned pods and forgets them when they have terminated', async () => {
  const {workers, done} = createWorkers();
  workers.update({type: 'create', pod: aPod()});
  await settle();
  workers.syncKnownPods(new Set());
  expect(workers.isTerminationRequested(uid)).toBe(true);
  await until(() => done.includes('terminated'));
  workers.syncKnownPods(new Set());
  expect(workers.isKnown(uid)).toBe(false);
});

test('a pod known only from the runtime is terminated and forgotten', async () => {
  const {workers, done} = createWorkers();
  workers.update({type: 'kill', running, kill: {gracePeriodSeconds: 1}});
  await settle();
  expect(done).toEqual(['terminating runtime pod web']);
  expect(workers.isKnown(uid)).toBe(false);
});

test('a kill for a running pod of the runtime terminates the pod that is known under that UID', async () => {
  const {workers, done} = createWorkers();
  workers.update({type: 'create', pod: aPod()});
  await settle();
  workers.update({type: 'kill', running});
  await settle();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated']);
});

test('static pods of the same full name run one at a time; the next starts after the first has terminated', async () => {
  const {workers, done} = createWorkers();
  const annotations = {'kubernetes.io/config.source': 'file'};
  const first = aPod({}, {annotations});
  const second = aPod({}, {annotations, uid: 'second'});
  workers.update({type: 'create', pod: first});
  workers.update({type: 'create', pod: second});
  await settle();
  expect(done).toEqual(['sync web']);
  workers.update({type: 'kill', pod: first});
  await settle();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated', 'sync web']);
});

test('a pod of the API server that ended before the daemon started is released', async () => {
  const {workers, handler} = createWorkers();
  workers.update({type: 'create', pod: {...aPod(), status: {phase: 'Succeeded'}}});
  await until(() => workers.isFinished(uid));
  expect(handler.done).toEqual(['terminated']);
});

test('a static pod that is killed before its turn never starts', async () => {
  const {workers, done} = createWorkers();
  const annotations = {'kubernetes.io/config.source': 'file'};
  workers.update({type: 'create', pod: aPod({}, {annotations})});
  const second = aPod({}, {annotations, uid: 'second'});
  workers.update({type: 'create', pod: second});
  let completed = false;
  const onCompleted = (): void => {
    completed = true;
  };
  workers.update({type: 'kill', pod: second, kill: {onCompleted}});
  await settle();
  expect(done).toEqual(['sync web']);
  expect(completed).toBe(true);
});

test('content may be removed of evicted pods that have stopped and, after housekeeping, of unknown pods', async () => {
  const {workers} = createWorkers();
  expect(workers.shouldContentBeRemoved(uid)).toBe(false);
  expect(workers.couldHaveRunningContainers(uid)).toBe(true);
  workers.update({type: 'create', pod: aPod()});
  await settle();
  workers.syncKnownPods(new Set([uid]));
  expect(workers.shouldContentBeRemoved(uid)).toBe(false);
  expect(workers.shouldContentBeRemoved(podUid('other'))).toBe(true);
  expect(workers.couldHaveRunningContainers(podUid('other'))).toBe(false);
  workers.update({type: 'kill', pod: aPod(), kill: {evict: true}});
  expect(workers.shouldContentBeRemoved(uid)).toBe(false);
  await settle();
  expect(workers.shouldContentBeRemoved(uid)).toBe(true);
});

test('stopping aborts waits, starts no new syncs, and waits for the current one', async () => {
  const {workers, done, handler} = createWorkers();
  const finish = handler.holdSyncs();
  workers.update({type: 'create', pod: aPod()});
  await settle();
  let stopped = false;
  const stopping = workers.stop().then(() => {
    stopped = true;
  });
  workers.update({type: 'sync', pod: aPod()});
  await settle();
  expect(stopped).toBe(false);
  finish();
  await stopping;
  expect(done).toEqual(['sync web']);
});

test('a pod that has ended and cannot be inspected is released when it can be', async () => {
  let failure: Error | undefined = new Error('runtime is down');
  const read = (uid: PodUid): RuntimePodStatus => {
    if (failure !== undefined) throw failure;
    return emptyStatus(uid);
  };
  const {workers, done, events} = createWorkers({
    get: read,
    lastSeen: (uid) => (failure === undefined ? emptyStatus(uid) : undefined),
    getNewerThan: async (uid) => read(uid),
  });
  const pod = {...aPod(), status: {phase: 'Succeeded' as const}};
  workers.update({type: 'create', pod});
  await settle();
  expect(events).toMatchObject([
    {reason: 'FailedSync', message: 'error determining status: runtime is down'},
  ]);
  failure = undefined;
  workers.update({type: 'sync', pod});
  await settle();
  expect(done).toEqual(['terminating 30', 'terminated']);
});

test.each([
  ['a programming error', new TypeError('a bug'), 1],
  ['an error of the environment', new SystemError('disk full'), 0],
])('%s of a sync is an internal error or not, and the sync is repeated', async (_title, error, count) => {
  const {workers, handler, bugs, clock, done} = createWorkers();
  handler.sync = async () => {
    await Promise.resolve();
    throw error;
  };
  const pod = aPod();
  workers.update({type: 'create', pod});
  await settle();
  expect(bugs).toEqual([[pod, error]].slice(0, count));
  clock.elapse(120_000);
  expect(workers.takeDue()).toEqual([uid]);
  expect(done).toEqual(['sync web']);
});
