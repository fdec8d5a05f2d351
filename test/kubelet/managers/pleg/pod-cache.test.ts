import {describe, expect, test} from 'vitest';
import {podUid, type PodSandboxStatus} from '../../../../src/cri/index.js';
import type {RuntimePodStatus} from '../../../../src/kubelet/contract/runtime-pod-status.js';
import {RuntimePodCache} from '../../../../src/kubelet/managers/pleg/pod-cache.js';
import {aRuntimePod, aSandboxStatus, NO_RUNTIME_POD} from '../../../fakes/a-runtime-pod.js';

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
function createCache(inspect: () => RuntimePodStatus = () => aStatus()) {
  let inspections = 0;
  const cache: RuntimePodCache = new RuntimePodCache(async (pod) => {
    inspections += 1;
    const start = cache.mark();
    await Promise.resolve();
    try {
      cache.set(pod, inspect(), start);
    } catch (error) {
      cache.setError(pod, error, start);
    }
  });
  return {cache, inspections: () => inspections};
}

describe('a request for a newer status', () => {
  test('returns the cached status if it is newer', async () => {
    const {cache, inspections} = createCache();
    const mark = cache.mark();
    cache.set(uid, aStatus(['10.0.0.1']), cache.mark());
    expect(await cache.getNewerThan(uid, mark, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(inspections()).toBe(0);
  });

  test('causes an inspection if the cached status is not newer', async () => {
    const {cache, inspections} = createCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), cache.mark());
    expect(await cache.getNewerThan(uid, cache.mark(), never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test('causes an inspection if the cached status was being read at the mark', async () => {
    const {cache, inspections} = createCache(() => aStatus(['10.0.0.2']));
    const start = cache.mark();
    const mark = cache.mark();
    cache.set(uid, aStatus(['10.0.0.1']), start);
    expect(await cache.getNewerThan(uid, mark, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test('returns the cached status if a newer relist found no change', async () => {
    const {cache, inspections} = createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.mark());
    const mark = cache.mark();
    cache.relisted(cache.mark());
    expect(await cache.getNewerThan(uid, mark, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(await cache.getNewerThan(podUid('unknown'), mark, never)).toEqual({
      ...NO_RUNTIME_POD,
      uid: 'unknown',
    });
    expect(inspections()).toBe(0);
  });

  test('causes an inspection if a relist found a change', async () => {
    const {cache, inspections} = createCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), cache.mark());
    const mark = cache.mark();
    const relist = cache.mark();
    cache.markStale(uid);
    cache.relisted(relist);
    expect(await cache.getNewerThan(uid, mark, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test.each([
    ['an empty status', EMPTY],
    ['another status', aStatus(['10.0.0.1'])],
  ])('causes an inspection if %s was read before a relist found a change', async (_title, stale) => {
    const {cache, inspections} = createCache(() => aStatus(['10.0.0.2']));
    const start = cache.mark();
    const mark = cache.mark();
    const relist = cache.mark();
    cache.markStale(uid);
    cache.relisted(relist);
    cache.set(uid, stale, start);
    expect(await cache.getNewerThan(uid, mark, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(inspections()).toBe(1);
  });

  test('returns an empty status for a removed pod and forgets it', async () => {
    const {cache} = createCache(() => EMPTY);
    cache.set(uid, aStatus(), cache.mark());
    expect(await cache.getNewerThan(uid, cache.mark(), never)).toEqual(EMPTY);
    expect(cache.size).toBe(0);
  });

  test('rejects when its signal aborts', async () => {
    const cache = new RuntimePodCache(() => new Promise(() => undefined));
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
    const {cache} = createCache(() => {
      if (fails) throw new Error('no runtime');
      return aStatus(['10.0.0.1']);
    });
    await expect(cache.getNewerThan(uid, cache.mark(), never)).rejects.toThrow('no runtime');
    expect(() => cache.get(uid)).toThrow('no runtime');
    fails = false;
    expect(await cache.getNewerThan(uid, cache.mark(), never)).toMatchObject({ips: ['10.0.0.1']});
    expect(cache.get(uid).ips).toEqual(['10.0.0.1']);
  });
});

describe('the IPs of a pod', () => {
  test.each([
    ['remain when its sandbox has stopped', 'SANDBOX_NOTREADY', [], ['10.0.0.1']],
    ['are removed when a ready sandbox has none', 'SANDBOX_READY', [], []],
    ['are replaced by new ones', 'SANDBOX_READY', ['10.0.0.2'], ['10.0.0.2']],
  ] as const)('%s', async (_title, state, ips, expected) => {
    const {cache} = createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.mark());
    cache.set(uid, aStatus(ips, state), cache.mark());
    expect(cache.get(uid).ips).toEqual(expected);
  });

  test('remain after a failed inspection', async () => {
    const {cache} = createCache();
    cache.set(uid, aStatus(['10.0.0.1']), cache.mark());
    cache.setError(uid, new Error('no runtime'), cache.mark());
    cache.set(uid, aStatus([], 'SANDBOX_NOTREADY'), cache.mark());
    expect(cache.get(uid).ips).toEqual(['10.0.0.1']);
  });
});
