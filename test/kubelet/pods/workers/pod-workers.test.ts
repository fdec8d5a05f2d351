import {expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import type {PodEvent} from '../../../../src/kubelet/contract/pod-event.js';
import type {PodCache, RunningPod} from '../../../../src/kubelet/contract/pleg.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import type {TerminationOptions, PodSyncHandler} from '../../../../src/kubelet/pods/workers/run-work.js';
import {PodWorkers} from '../../../../src/kubelet/pods/workers/pod-workers.js';
import type {SyncOutcome} from '../../../../src/kubelet/pods/workers/worker-state.js';
import {until} from '../../../base/until.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';
import {aPod, UID} from '../../pod-builders.js';

const uid = podUid(UID);
const running: RunningPod = {uid, name: 'web', namespace: 'default', isRunning: true};
const nothing = (id: PodUid): RuntimePodStatus => ({
  uid: id,
  name: '',
  namespace: '',
  sandboxes: [],
  containers: [],
  ips: [],
});

/** Notes what is done, and does what the test says. */
class Handler implements PodSyncHandler {
  readonly done: string[] = [];
  sync: (pod: Pod, signal: AbortSignal) => Promise<SyncOutcome> = async () => ({isTerminal: false});
  terminating: (end: TerminationOptions) => Promise<void> = async () => undefined;
  terminated: () => Promise<void> = async () => undefined;
  syncPod(pod: Pod, _status: RuntimePodStatus, signal: AbortSignal): Promise<SyncOutcome> {
    this.done.push(`sync ${podRef(pod).name}`);
    return this.sync(pod, signal);
  }
  syncTerminatingPod(_pod: Pod, _status: RuntimePodStatus, end: TerminationOptions): Promise<void> {
    this.done.push(`terminating ${end.gracePeriodSeconds}`);
    return this.terminating(end);
  }
  async syncTerminatingRuntimePod({name}: RunningPod): Promise<void> {
    this.done.push(`terminating runtime pod ${name}`);
  }
  syncTerminatedPod(): Promise<void> {
    this.done.push('terminated');
    return this.terminated();
  }
}

function scene(cacheOf: Partial<PodCache> = {}) {
  const clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'});
  const handler = new Handler();
  const events: PodEvent[] = [];
  const newerThan: number[] = [];
  const cache: PodCache = {
    get: nothing,
    getNewerThan: async (id, time) => {
      newerThan.push(time);
      return nothing(id);
    },
    ...cacheOf,
  };
  const workers = new PodWorkers({
    handler,
    cache,
    clock,
    random: () => 0,
    logger: SILENT_LOGGER,
    events: (event) => events.push(event),
    syncFrequencyMs: 60_000,
  });
  onTestFinished(() => workers.stop());
  return {clock, handler, events, newerThan, workers, done: handler.done};
}

const settled = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
};

test('a pod goes from sync over terminating to terminated, and never back', async () => {
  const {workers, done, handler} = scene();
  workers.update({type: 'create', pod: aPod()});
  await settled();
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
  await settled();
  expect(completed).toBe(true);
  workers.update({type: 'sync', pod: aPod()});
  workers.update({type: 'update', pod: aPod()});
  await settled();
  expect(handler.done).toEqual(['sync web', 'terminating 30', 'terminated']);
  expect(done).toHaveLength(3);
  expect(workers.isTerminated(uid)).toBe(true);
});

test('what comes while a pod is being synced is one more sync, of the newest pod', async () => {
  const {workers, done, handler} = scene();
  let finish = (): void => undefined;
  handler.sync = () =>
    new Promise((resolve) => {
      finish = () => {
        resolve({isTerminal: false});
      };
    });
  workers.update({type: 'create', pod: aPod()});
  await settled();
  workers.update({type: 'sync', pod: aPod()});
  workers.update({type: 'update', pod: aPod({}, {name: 'changed'})});
  await settled();
  expect(done).toEqual(['sync web']);
  finish();
  await settled();
  expect(done).toEqual(['sync web', 'sync changed']);
  finish();
});

test('an update in the very turn in which the worker ends its work is not lost', async () => {
  const {workers, done, handler} = scene();
  for (let turns = 0; turns < 12; turns += 1) {
    done.length = 0;
    let finish = (): void => undefined;
    handler.sync = () =>
      new Promise((resolve) => {
        finish = () => {
          resolve({isTerminal: false});
        };
      });
    workers.update({type: 'update', pod: aPod()});
    await settled();
    finish();
    for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
    workers.update({type: 'sync', pod: aPod()});
    await settled();
    expect(done).toEqual(['sync web', 'sync web']);
    finish();
    await settled();
  }
});

test('the end of a pod ends the waits of its sync, and so does a shorter grace period', async () => {
  const {workers, done, handler} = scene();
  handler.sync = (_pod, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    });
  workers.update({type: 'create', pod: aPod()});
  await settled();
  let ended = (): void => undefined;
  handler.terminating = () =>
    new Promise((_resolve, reject) => {
      ended = () => {
        reject(new Error('it still runs'));
      };
    });
  workers.update({type: 'kill', pod: aPod(), kill: {gracePeriodSeconds: 20}});
  await settled();
  expect(done).toEqual(['sync web', 'terminating 20']);
  workers.update({type: 'kill', pod: aPod(), kill: {gracePeriodSeconds: 5}});
  ended();
  await settled();
  expect(done.at(-1)).toBe('terminating 5');
  ended();
});

test('a pod that has run to its end is stopped', async () => {
  const {workers, done, handler} = scene();
  handler.sync = async () => ({isTerminal: true});
  workers.update({type: 'create', pod: aPod()});
  await settled();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated']);
});

test('the status must be newer than the last sync; one that can’t be read is told of and tried again', async () => {
  let fails = false;
  const times: number[] = [];
  const {workers, done, clock, events} = scene({
    getNewerThan: async (id, time) => {
      times.push(time);
      if (fails) throw new Error('rpc error');
      return nothing(id);
    },
  });
  workers.update({type: 'create', pod: aPod()});
  await settled();
  const first = clock.now();
  clock.elapse(5000);
  fails = true;
  workers.update({type: 'sync', pod: aPod()});
  await settled();
  expect(times).toEqual([0, first]);
  expect(done).toEqual(['sync web']);
  expect(events).toMatchObject([{reason: 'FailedSync', message: 'error determining status: rpc error'}]);
  expect(workers.takeDue()).toEqual([]);
  clock.elapse(10_000);
  expect(workers.takeDue()).toEqual([uid]);
});

test('a pod is due again after the sync frequency, and at the end of a back-off', async () => {
  const {workers, clock, handler} = scene();
  workers.update({type: 'create', pod: aPod()});
  await settled();
  clock.elapse(59_999);
  expect(workers.takeDue()).toEqual([]);
  clock.elapse(1);
  expect(workers.takeDue()).toEqual([uid]);
  expect(workers.takeDue()).toEqual([]);
  handler.sync = async () => ({
    isTerminal: false,
    error: new Error('back-off'),
    retryAt: clock.now() + 20_000,
  });
  workers.update({type: 'sync', pod: aPod()});
  await settled();
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

test('a sync that asks for another one gets it at once', async () => {
  const {workers, done, handler} = scene();
  handler.sync = async () => ({isTerminal: false, syncAgain: done.length < 2});
  workers.update({type: 'create', pod: aPod()});
  await settled();
  expect(done).toEqual(['sync web', 'sync web']);
});

test('a pod that could not be ended is tried again by itself', async () => {
  const {workers, done, clock, handler} = scene();
  handler.terminating = () => Promise.reject(new Error('the runtime is away'));
  workers.update({type: 'create', pod: aPod()});
  workers.update({type: 'kill', pod: aPod()});
  await settled();
  expect(done).toEqual(['sync web', 'terminating 30']);
  handler.terminating = async () => undefined;
  clock.elapse(10_000);
  expect(workers.takeDue()).toEqual([]);
  await settled();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminating 30', 'terminated']);
});

test('a pod that is wanted again while it ends gets a new worker from housekeeping', async () => {
  const {workers, done} = scene();
  workers.update({type: 'create', pod: aPod()});
  workers.update({type: 'kill', pod: aPod()});
  workers.update({type: 'create', pod: aPod()});
  await settled();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated']);
  expect(workers.isKnown(uid)).toBe(true);
  workers.syncKnownPods(new Set([uid]));
  expect(workers.isKnown(uid)).toBe(false);
});

test('housekeeping ends pods that nobody wants, and forgets them when they have ended', async () => {
  const {workers, done} = scene();
  workers.update({type: 'create', pod: aPod()});
  await settled();
  workers.syncKnownPods(new Set());
  expect(workers.isTerminationRequested(uid)).toBe(true);
  await until(() => done.includes('terminated'));
  workers.syncKnownPods(new Set());
  expect(workers.isKnown(uid)).toBe(false);
});

test('a pod that only the runtime knows is ended and forgotten', async () => {
  const {workers, done} = scene();
  workers.update({type: 'kill', running, kill: {gracePeriodSeconds: 1}});
  await settled();
  expect(done).toEqual(['terminating runtime pod web']);
  expect(workers.isKnown(uid)).toBe(false);
});

test('the runtime’s word for a pod that is wanted ends the wanted one', async () => {
  const {workers, done} = scene();
  workers.update({type: 'create', pod: aPod()});
  await settled();
  workers.update({type: 'kill', running});
  await settled();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated']);
});

test('static pods of one name take turns, and the next one starts when the first has ended', async () => {
  const {workers, done} = scene();
  const annotations = {'kubernetes.io/config.source': 'file'};
  const first = aPod({}, {annotations});
  const second = aPod({}, {annotations, uid: 'second'});
  workers.update({type: 'create', pod: first});
  workers.update({type: 'create', pod: second});
  await settled();
  expect(done).toEqual(['sync web']);
  workers.update({type: 'kill', pod: first});
  await settled();
  expect(done).toEqual(['sync web', 'terminating 30', 'terminated', 'sync web']);
});

test('a static pod that is to end before its turn never starts', async () => {
  const {workers, done} = scene();
  const annotations = {'kubernetes.io/config.source': 'file'};
  workers.update({type: 'create', pod: aPod({}, {annotations})});
  const second = aPod({}, {annotations, uid: 'second'});
  workers.update({type: 'create', pod: second});
  let completed = false;
  const onCompleted = (): void => {
    completed = true;
  };
  workers.update({type: 'kill', pod: second, kill: {onCompleted}});
  await settled();
  expect(done).toEqual(['sync web']);
  expect(completed).toBe(true);
});

test('what may be removed: of evicted pods, of deleted ones when they have ended, of unknown ones after housekeeping', async () => {
  const {workers} = scene();
  expect(workers.shouldContentBeRemoved(uid)).toBe(false);
  expect(workers.couldHaveRunningContainers(uid)).toBe(true);
  workers.update({type: 'create', pod: aPod()});
  await settled();
  workers.syncKnownPods(new Set([uid]));
  expect(workers.shouldContentBeRemoved(uid)).toBe(false);
  expect(workers.shouldContentBeRemoved(podUid('other'))).toBe(true);
  expect(workers.couldHaveRunningContainers(podUid('other'))).toBe(false);
  workers.update({type: 'kill', pod: aPod(), kill: {evict: true}});
  expect(workers.shouldContentBeRemoved(uid)).toBe(true);
});

test('stopping ends waits, begins nothing new, and waits for what is under way', async () => {
  const {workers, done, handler} = scene();
  let finish = (): void => undefined;
  handler.sync = () =>
    new Promise((resolve) => {
      finish = () => {
        resolve({isTerminal: false});
      };
    });
  workers.update({type: 'create', pod: aPod()});
  await settled();
  let stopped = false;
  const stopping = workers.stop().then(() => {
    stopped = true;
  });
  workers.update({type: 'sync', pod: aPod()});
  await settled();
  expect(stopped).toBe(false);
  finish();
  await stopping;
  expect(done).toEqual(['sync web']);
});
