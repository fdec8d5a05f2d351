import {describe, expect, test} from 'vitest';
import {podUid, type PodSandboxStatus} from '../../../../src/cri/index.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {RuntimePodCache} from '../../../../src/kubelet/managers/pleg/pod-cache.js';
import {aRuntimePod, aSandboxStatus, NO_RUNTIME_POD} from '../../../fakes/a-runtime-pod.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const uid = podUid('uid-1');
const never = new AbortController().signal;

function aStatus(
  ips: readonly string[] = [],
  state: PodSandboxStatus['state'] = 'SANDBOX_READY',
): RuntimePodStatus {
  return aRuntimePod([], {uid, sandboxes: [aSandboxStatus({state})], ips});
}

const EMPTY: RuntimePodStatus = {...NO_RUNTIME_POD, uid};

/** Creates a cache whose inspections return the result of `inspect`, and counts them. */
async function createCache(inspect: () => RuntimePodStatus = () => aStatus()) {
  const clock = new FakeClock();
  await clock.advance(1000);
  let inspections = 0;
  const cache: RuntimePodCache = new RuntimePodCache(clock, async (pod) => {
    inspections += 1;
    const start = cache.startInspection();
    await Promise.resolve();
    try {
      cache.set(pod, inspect(), start);
    } catch (error) {
      cache.setError(pod, error, start);
    }
  });
  return {cache, clock, inspections: () => inspections};
}

describe('a request for a newer status', () => {
  test('returns the cached status if it is newer', async () => {
    const {cache, inspections} = await createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    expect(await cache.getNewerThan(uid, 999, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(inspections()).toBe(0);
  });

  test('causes an inspection if the cached status is not newer', async () => {
    const {cache, inspections} = await createCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    expect(await cache.getNewerThan(uid, 1000, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test('returns the cached status if a newer relist found no change', async () => {
    const {cache, clock, inspections} = await createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    await clock.advance(1000);
    cache.updateTime(2000);
    expect(await cache.getNewerThan(uid, 1999, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(await cache.getNewerThan(podUid('unknown'), 1999, never)).toEqual({
      ...NO_RUNTIME_POD,
      uid: 'unknown',
    });
    expect(inspections()).toBe(0);
  });

  test('causes an inspection if a relist found a change', async () => {
    const {cache, clock, inspections} = await createCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    await clock.advance(1000);
    cache.markStale(uid);
    cache.updateTime(2000);
    expect(await cache.getNewerThan(uid, 1999, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test.each([
    ['an empty status', EMPTY],
    ['another status', aStatus(['10.0.0.1'])],
  ])('causes an inspection if %s was read before a relist found a change', async (_title, stale) => {
    const {cache, clock, inspections} = await createCache(() => aStatus(['10.0.0.2']));
    const start = cache.startInspection();
    await clock.advance(1000);
    cache.markStale(uid);
    cache.updateTime(2000);
    cache.set(uid, stale, start);
    expect(await cache.getNewerThan(uid, 1999, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test('returns an empty status for a removed pod and forgets it', async () => {
    const {cache} = await createCache(() => EMPTY);
    cache.set(uid, aStatus(), cache.startInspection());
    expect(await cache.getNewerThan(uid, 1000, never)).toEqual(EMPTY);
    expect(cache.size).toBe(0);
  });

  test('rejects when its signal aborts', async () => {
    const clock = new FakeClock();
    const cache = new RuntimePodCache(clock, () => new Promise(() => undefined));
    const caller = new AbortController();
    const request = cache.getNewerThan(uid, 0, caller.signal);
    caller.abort(new Error('enough'));
    await expect(request).rejects.toThrow('enough');
    await expect(cache.getNewerThan(uid, 0, caller.signal)).rejects.toThrow('enough');
  });
});

describe('a failed inspection', () => {
  test('makes all reads throw until an inspection succeeds', async () => {
    let fails = true;
    const {cache} = await createCache(() => {
      if (fails) throw new Error('no runtime');
      return aStatus(['10.0.0.1']);
    });
    await expect(cache.getNewerThan(uid, 1000, never)).rejects.toThrow('no runtime');
    expect(() => cache.get(uid)).toThrow('no runtime');
    fails = false;
    expect(await cache.getNewerThan(uid, 1000, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(cache.get(uid).ips).toEqual(['10.0.0.1']);
  });
});

describe('a clock that is set back', () => {
  test('makes cached statuses old and does not delay requests', async () => {
    const {cache, clock, inspections} = await createCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    cache.updateTime(clock.now());
    clock.jump(-900);
    // The status was read before this time, although its timestamp is later.
    expect(await cache.getNewerThan(uid, 100, never)).toMatchObject({ips: ['10.0.0.2']});
    // The requested time is in the future.
    expect(await cache.getNewerThan(uid, 5000, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(2);
  });

  test('is noticed by writes too', async () => {
    const {cache, clock, inspections} = await createCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    clock.jump(-500);
    cache.updateTime(100);
    await clock.advance(1000);
    expect(await cache.getNewerThan(uid, 600, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test('during an inspection makes its result old', async () => {
    const {cache, clock, inspections} = await createCache(() => aStatus(['10.0.0.2']));
    const start = cache.startInspection();
    clock.jump(-500);
    cache.set(uid, aStatus(['10.0.0.1']), start);
    await clock.advance(1000);
    expect(await cache.getNewerThan(uid, 600, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });
});

describe('the IPs of a pod', () => {
  test.each([
    ['remain when its sandbox has stopped', 'SANDBOX_NOTREADY', [], ['10.0.0.1']],
    ['are removed when a ready sandbox has none', 'SANDBOX_READY', [], []],
    ['are replaced by new ones', 'SANDBOX_READY', ['10.0.0.2'], ['10.0.0.2']],
  ] as const)('%s', async (_title, state, ips, expected) => {
    const {cache} = await createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    cache.set(uid, aStatus(ips, state), cache.startInspection());
    expect(cache.get(uid).ips).toEqual(expected);
  });

  test('remain after a failed inspection', async () => {
    const {cache} = await createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.startInspection());
    cache.setError(uid, new Error('no runtime'), cache.startInspection());
    cache.set(uid, aStatus([], 'SANDBOX_NOTREADY'), cache.startInspection());
    expect(cache.get(uid).ips).toEqual(['10.0.0.1']);
  });
});
