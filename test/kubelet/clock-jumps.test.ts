import {describe, expect, test} from 'vitest';
import {TokenBucket} from '../../src/base/async/token-bucket.js';
import {ExpiringCache} from '../../src/base/expiring-cache.js';
import {SILENT_LOGGER} from '../../src/base/logger.js';
import type {ApiClient} from '../../src/kube-api/index.js';
import {FetchedObject} from '../../src/kubelet/cluster/objects/fetched-object.js';
import type {EventRecorder} from '../../src/kubelet/contract/pod-event.js';
import {ImageBackOff} from '../../src/kubelet/managers/images/image-back-off.js';
import {RuntimeState} from '../../src/kubelet/node/runtime-state.js';
import {PodWorkers} from '../../src/kubelet/pods/workers/pod-workers.js';
import {SharedDeadline} from '../../src/streaming/port-forward/shared-deadline.js';
import {aPod} from '../fakes/a-pod.js';
import {NO_RUNTIME_POD} from '../fakes/a-runtime-pod.js';
import {FakeClock, TEST_TIME_MS} from '../fakes/fake-clock.js';

const {signal} = new AbortController();
const settle = async (): Promise<void> => {
  await new Promise((resolve) => setImmediate(resolve));
};

/** Begins something that lasts, and returns a function that reports whether it is over. */
type Begin = (clock: FakeClock) => Promise<() => boolean | Promise<boolean>>;

const refill: Begin = async (clock) => {
  const bucket = new TokenBucket({perSecond: 1 / 32, burst: 1}, clock);
  await bucket.take(signal);
  return () => bucket.tryTake();
};

const cacheEntry: Begin = async (clock) => {
  await settle();
  const cache = new ExpiringCache<string>(1, clock);
  cache.set('key', 'value', 30_000);
  return () => cache.get('key') === undefined;
};

const resultOfPortForward: Begin = async (clock) => {
  let isOver = false;
  const waiting = new SharedDeadline(30_000, clock).wait(new Promise<never>(() => undefined));
  void waiting.then(() => (isOver = true));
  await settle();
  return () => isOver;
};

const pullBackOff: Begin = async (clock) => {
  await settle();
  const backOff = new ImageBackOff(clock);
  const target = {pod: aPod(), image: 'r.example/app:1'};
  backOff.pullFailed(target, {reason: 'ErrImagePull', message: 'no such image'});
  const events = {normal: () => undefined, warning: () => undefined} as unknown as EventRecorder;
  return () => {
    const failure = backOff.check(target, events);
    // The time for people and for the queue of the workers is right as the clock is set.
    if (failure !== undefined) expect(failure.retryAt).toBe(clock.now() + 10_000 - clock.monotonic());
    return failure === undefined;
  };
};

const stateOfRuntime: Begin = async (clock) => {
  const conditions = [
    {type: 'RuntimeReady', status: true, reason: '', message: ''},
    {type: 'NetworkReady', status: true, reason: '', message: ''},
  ];
  const status = async () => ({status: {conditions}, info: {}, runtimeHandlers: []});
  const state = new RuntimeState({status}, clock);
  await state.check(signal);
  expect(state.errors()).toEqual([]);
  return () => state.errors().length > 0;
};

const periodOfSyncs: Begin = async (clock) => {
  const workers = new PodWorkers({
    handler: {
      syncPod: async () => ({isTerminal: false, hasActed: false}),
      syncTerminatingPod: async () => false,
      syncTerminatingRuntimePod: async () => undefined,
      syncTerminatedPod: async () => undefined,
    },
    cache: {
      get: () => NO_RUNTIME_POD,
      lastSeen: () => NO_RUNTIME_POD,
      mark: () => 0,
      getNewerThan: async () => NO_RUNTIME_POD,
    },
    clock,
    requestRelist: () => undefined,
    random: () => 0,
    logger: SILENT_LOGGER,
    events: () => undefined,
    syncFrequencyMs: {current: 60_000},
  });
  workers.update({type: 'create', pod: aPod()});
  await settle();
  return () => workers.takeDue().length > 0;
};

const lifetimeOfSecret: Begin = async (clock) => {
  let requests = 0;
  const request = async (): Promise<unknown> => {
    requests += 1;
    await Promise.resolve();
    return {apiVersion: 'v1', kind: 'Secret', metadata: {name: 's', namespace: 'default'}};
  };
  const client = {request} as unknown as ApiClient;
  const ref = {kind: 'Secret', namespace: 'default', name: 's'} as const;
  const secret = new FetchedObject(ref, {client, ttlMs: () => 30_000, clock});
  await secret.load(signal);
  return async () => {
    await secret.load(signal);
    return requests > 1;
  };
};

/** Returns how long something lasts, in whole seconds, when the clock is set `jumpMs` forward after its beginning. */
async function measure(begin: Begin, jumpMs: number): Promise<number> {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const isOver = await begin(clock);
  clock.jump(jumpMs);
  for (let seconds = 0; seconds < 120; seconds += 1) {
    if (await isOver()) return seconds;
    await clock.advance(1000);
  }
  return Number.POSITIVE_INFINITY;
}

describe.each([0, 3_600_000, -3_600_000])('a clock that is set by %d ms changes no duration:', (jumpMs) => {
  test.each<[string, number, Begin]>([
    ['the refill of a token bucket', 32, refill],
    ['the lifetime of a cache entry', 30, cacheEntry],
    ['the wait for the result of a forwarded connection', 30, resultOfPortForward],
    ['the back-off of a pull', 10, pullBackOff],
    ['the time until a silent runtime counts as down', 31, stateOfRuntime],
    ['the period of the syncs of a pod', 60, periodOfSyncs],
    ['the time for which a Secret is not read again', 30, lifetimeOfSecret],
  ])('%s', async (_title, seconds, begin) => {
    expect(await measure(begin, jumpMs)).toBe(seconds);
  });
});
