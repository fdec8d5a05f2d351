import {describe, expect, test} from 'vitest';
import {podSandboxId, podUid, type PodSandboxStatus} from '../../../src/cri/index.js';
import type {RuntimePodStatus} from '../../../src/kubelet/container/pod-status.js';
import {RuntimePodCache} from '../../../src/kubelet/pleg/pod-cache.js';
import {ManualClock} from '../../streaming/manual-clock.js';

const uid = podUid('uid-1');
const never = new AbortController().signal;

function aStatus(
  ips: readonly string[] = [],
  state: PodSandboxStatus['state'] = 'SANDBOX_READY',
): RuntimePodStatus {
  const sandbox = {id: podSandboxId('s'), state} as PodSandboxStatus;
  return {uid, name: 'web', namespace: 'default', sandboxes: [sandbox], containers: [], ips};
}

const EMPTY: RuntimePodStatus = {uid, name: '', namespace: '', sandboxes: [], containers: [], ips: []};

/** A cache whose looks find what `find` gives, and how many there were. */
async function aCache(find: () => RuntimePodStatus = () => aStatus()) {
  const clock = new ManualClock();
  await clock.advance(1000);
  let looks = 0;
  const cache: RuntimePodCache = new RuntimePodCache(clock, async (asked) => {
    looks += 1;
    const readAt = clock.now();
    await Promise.resolve();
    try {
      cache.set(asked, find(), readAt);
    } catch (error) {
      cache.fail(asked, error, readAt);
    }
  });
  return {cache, clock, looks: () => looks};
}

describe('something newer than a time', () => {
  test('is what was read since', async () => {
    const {cache, clock, looks} = await aCache();
    cache.set(uid, aStatus(['10.0.0.1']), clock.now());
    expect(await cache.getNewerThan(uid, 999, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(looks()).toBe(0);
  });

  test('is a look that begins now when what was read is as old as that', async () => {
    const {cache, clock, looks} = await aCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), clock.now());
    expect(await cache.getNewerThan(uid, 1000, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(looks()).toBe(1);
  });

  test('is what was read before when everything was listed since and it had not changed', async () => {
    const {cache, clock, looks} = await aCache();
    cache.set(uid, aStatus(['10.0.0.1']), clock.now());
    await clock.advance(1000);
    cache.updateTime(2000);
    expect(await cache.getNewerThan(uid, 1999, never)).toMatchObject({ips: ['10.0.0.1']});
    expect(await cache.getNewerThan(podUid('unknown'), 1999, never)).toEqual({...EMPTY, uid: 'unknown'});
    expect(looks()).toBe(0);
  });

  test('is a look when the list has shown it different', async () => {
    const {cache, clock, looks} = await aCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), clock.now());
    await clock.advance(1000);
    cache.outdate(uid);
    cache.updateTime(2000);
    expect(await cache.getNewerThan(uid, 1999, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(looks()).toBe(1);
  });

  test('is empty of a pod that has vanished, of which nothing is kept', async () => {
    const {cache, clock} = await aCache(() => EMPTY);
    cache.set(uid, aStatus(), clock.now());
    expect(await cache.getNewerThan(uid, 1000, never)).toEqual(EMPTY);
    expect(cache.size).toBe(0);
  });

  test('is not waited for when the caller gives up', async () => {
    const clock = new ManualClock();
    const cache = new RuntimePodCache(clock, () => new Promise(() => undefined));
    const caller = new AbortController();
    const asked = cache.getNewerThan(uid, 0, caller.signal);
    caller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
    await expect(cache.getNewerThan(uid, 0, caller.signal)).rejects.toThrow('enough');
  });
});

describe('what could not be read', () => {
  test('is told to everybody, until it can be', async () => {
    let fails = true;
    const {cache} = await aCache(() => {
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

describe('a clock that was put back', () => {
  test('makes what was read count as old, and nobody waits for it', async () => {
    const {cache, clock, looks} = await aCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), clock.now());
    cache.updateTime(clock.now());
    clock.jump(-900);
    // Read before this time, though what the clock said then is more.
    expect(await cache.getNewerThan(uid, 100, never)).toMatchObject({ips: ['10.0.0.2']});
    // The caller's time is one that the clock won't show for long.
    expect(await cache.getNewerThan(uid, 5000, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(looks()).toBe(2);
  });

  test('is noticed by what is written, too', async () => {
    const {cache, clock, looks} = await aCache(() => aStatus(['10.0.0.2']));
    cache.set(uid, aStatus(['10.0.0.1']), clock.now());
    clock.jump(-500);
    cache.updateTime(100);
    await clock.advance(1000);
    expect(await cache.getNewerThan(uid, 600, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(looks()).toBe(1);
  });

  test('while a pod was read leaves the time of that unknown', async () => {
    const {cache, clock, looks} = await aCache(() => aStatus(['10.0.0.2']));
    const readAt = clock.now();
    clock.jump(-500);
    cache.set(uid, aStatus(['10.0.0.1']), readAt);
    await clock.advance(1000);
    expect(await cache.getNewerThan(uid, 600, never)).toMatchObject({ips: ['10.0.0.2']});
    expect(looks()).toBe(1);
  });
});

describe('the addresses of a pod', () => {
  test.each([
    ['stay when its sandbox has ended', 'SANDBOX_NOTREADY', [], ['10.0.0.1']],
    ['are gone when a ready sandbox has none', 'SANDBOX_READY', [], []],
    ['are the new ones', 'SANDBOX_READY', ['10.0.0.2'], ['10.0.0.2']],
  ] as const)('%s', async (_title, state, ips, expected) => {
    const {cache} = await aCache();
    cache.set(uid, aStatus(['10.0.0.1']), 1);
    cache.set(uid, aStatus(ips, state), 2);
    expect(cache.get(uid).ips).toEqual(expected);
  });

  test('outlast that it could not be read for a while', async () => {
    const {cache} = await aCache();
    cache.set(uid, aStatus(['10.0.0.1']), 1);
    cache.fail(uid, new Error('no runtime'), 2);
    cache.set(uid, aStatus([], 'SANDBOX_NOTREADY'), 3);
    expect(cache.get(uid).ips).toEqual(['10.0.0.1']);
  });
});
