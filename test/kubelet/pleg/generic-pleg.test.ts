import {describe, expect, test} from 'vitest';
import {podUid, type PodUid} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {startGeneric, told} from './pleg-ground.js';

const never = new AbortController().signal;
const RUNTIME_GONE = {code: 'UNAVAILABLE', message: 'no runtime'} as const;

const uid = podUid('uid-of-web');
const sandbox = aSandbox({id: 'sandbox', name: 'web', uid});
const main = aContainer({id: 'main', sandbox});
const other = aContainer({
  id: 'other',
  sandbox: aSandbox({id: 'other-sandbox', name: 'api', uid: 'uid-of-api'}),
});

const startRuntime = (): Promise<FakeRuntime> => FakeRuntime.start({containers: [main, other]});

describe('a relist', () => {
  test('finds what runs, and what has died since', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    expect(told(ground.events).toSorted()).toEqual([
      'ContainerStarted main',
      'ContainerStarted other',
      'ContainerStarted other-sandbox',
      'ContainerStarted sandbox',
    ]);
    runtime.exitContainer('main', 1);
    expect(await ground.nextRelist()).toBe(1);
    await until(() => ground.events.length === 5);
    expect(ground.events.at(-1)).toEqual({uid, type: 'ContainerDied', id: 'main'});
    expect(ground.pleg.cache.get(uid).containers[0]?.state).toBe('CONTAINER_EXITED');
  });

  test('has only the pods read that are different', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    runtime.clearCalls();
    await ground.nextRelist();
    await ground.nextRelist();
    expect(new Set(runtime.calls.map(({method}) => method))).toEqual(
      new Set(['ListPodSandbox', 'ListContainers']),
    );
    runtime.exitContainer('main', 0);
    await ground.nextRelist();
    await until(() => ground.events.length === 5);
    expect(runtime.callsTo('PodSandboxStatus').map(({request}) => request)).toEqual([
      {pod_sandbox_id: 'sandbox'},
    ]);
  });

  test('of what is gone tells that it was removed, and forgets it', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    runtime.state.containers.delete('main');
    runtime.state.sandboxes.delete('sandbox');
    await ground.nextRelist();
    await until(() => ground.events.length === 8);
    expect(told(ground.events.slice(4))).toEqual([
      'ContainerDied main',
      'ContainerRemoved main',
      'ContainerDied sandbox',
      'ContainerRemoved sandbox',
    ]);
    expect(ground.pleg.cache.get(uid)).toMatchObject({sandboxes: [], containers: []});
    expect(ground.pleg.runningPods().map(({name}) => name)).toEqual(['api']);
    expect(ground.pleg.looks.cache.size).toBe(1);
  });

  test('releases who waits for something newer of a pod in which nothing happens', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    const time = ground.clock.now();
    await ground.nextRelist();
    runtime.clearCalls();
    await ground.pleg.cache.getNewerThan(uid, time, never);
    expect(runtime.calls).toEqual([]);
  });

  test('of too much for a message takes pages', async () => {
    await using runtime = await startRuntime();
    const tooLong = {code: 'RESOURCE_EXHAUSTED', message: 'larger than max'} as const;
    const isWhole = (request: object): boolean => Object.keys(request).length === 0;
    runtime.injectError('ListContainers', {...tooLong, match: isWhole});
    runtime.injectError('ListPodSandbox', {...tooLong, match: isWhole});
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    expect(ground.relists('relist-failed')).toBe(0);
  });
});

describe('a pod of somebody else', () => {
  test('is neither read nor told of, but counts as running', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime, {isOurs: (asked) => asked === uid});
    await until(() => ground.events.length === 2);
    runtime.exitContainer('other', 1);
    await ground.nextRelist();
    await ground.nextRelist();
    expect(told(ground.events)).toEqual(['ContainerStarted main', 'ContainerStarted sandbox']);
    expect(runtime.callsTo('ContainerStatus')).toHaveLength(1);
    expect(ground.pleg.runningPods()).toMatchObject([
      {uid, isRunning: true},
      {uid: 'uid-of-api', namespace: 'default', isRunning: true},
    ]);
  });

  test('that becomes ours is told of from then on, and one that no longer is is forgotten', async () => {
    await using runtime = await startRuntime();
    const ours = new Set<PodUid>([uid]);
    await using ground = await startGeneric(runtime, {isOurs: (asked) => ours.has(asked)});
    await until(() => ground.events.length === 2);
    ours.clear();
    ours.add(podUid('uid-of-api'));
    await ground.nextRelist();
    await until(() => ground.events.length === 4);
    expect(told(ground.events.slice(2))).toEqual([
      'ContainerStarted other',
      'ContainerStarted other-sandbox',
    ]);
    expect(ground.pleg.cache.get(uid).containers).toEqual([]);
  });
});

describe('a pod that can not be read', () => {
  test('is told of when it can be, and of nothing lost', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    const ofMain = (request: object): boolean => JSON.stringify(request).includes('"main"');
    runtime.injectError('ContainerStatus', {...RUNTIME_GONE, times: 2, match: ofMain});
    runtime.exitContainer('main', 1);
    for (const failures of [1, 2]) {
      await ground.nextRelist();
      await until(() => ground.notices.filter(({kind}) => kind === 'look-failed').length === failures);
      expect(() => ground.pleg.cache.get(uid)).toThrow('no runtime');
      expect(ground.events).toHaveLength(4);
    }
    await ground.nextRelist();
    await until(() => ground.events.length === 5);
    expect(told(ground.events.slice(4))).toEqual(['ContainerDied main']);
  });

  test('is synced when it can be, though nothing has happened', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    runtime.injectError('PodSandboxStatus', {...RUNTIME_GONE, times: 1});
    ground.pleg.requestRelist(uid);
    await until(() => ground.notices.some(({kind}) => kind === 'look-failed'));
    await ground.nextRelist();
    await until(() => ground.events.length === 5);
    expect(ground.events.at(-1)).toEqual({uid, type: 'PodSync'});
  });

  test('because the runtime hangs holds up no other', async () => {
    await using runtime = await startRuntime();
    const ofMain = (request: object): boolean => JSON.stringify(request).includes('"main"');
    runtime.injectDelay('ContainerStatus', 1e9, {match: ofMain});
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 2);
    runtime.exitContainer('other', 1);
    await ground.nextRelist();
    await until(() => ground.events.length === 3);
    expect(told(ground.events).at(-1)).toBe('ContainerDied other');
    expect(ground.pleg.unhealthy()).toBeUndefined();
  });
});

describe('a request', () => {
  test('has the pod looked at before the next relist', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    runtime.exitContainer('main', 1);
    for (let n = 0; n < 100; n += 1) ground.pleg.requestRelist(uid);
    await until(() => ground.events.length === 5);
    expect(ground.relists()).toBe(1);
    expect(runtime.callsTo('ContainerStatus').length).toBeLessThanOrEqual(4);
  });

  test('for something newer has it, too, also of a pod that no list has shown', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    const late = aContainer({
      id: 'late',
      sandbox: aSandbox({id: 'late-sandbox', name: 'late', uid: 'uid-late'}),
    });
    runtime.state.addContainer(late);
    const status = await ground.pleg.cache.getNewerThan(podUid('uid-late'), ground.clock.now(), never);
    expect(status).toMatchObject({name: 'late', namespace: 'default', containers: [{id: 'late'}]});
    expect(told(ground.events.slice(4))).toEqual(['ContainerStarted late', 'ContainerStarted late-sandbox']);
    expect(ground.pleg.runningPods()).toHaveLength(3);
    expect(ground.relists()).toBe(1);
  });

  test('that waits gets the reason when the PLEG ends', async () => {
    await using runtime = await startRuntime();
    const stop = new AbortController();
    await using ground = await startGeneric(runtime, {signal: stop.signal});
    runtime.injectDelay('PodSandboxStatus', 1e9);
    const asked = ground.pleg.cache.getNewerThan(uid, ground.clock.now(), never);
    stop.abort(new Error('shutting down'));
    await expect(asked).rejects.toThrow('shutting down');
  });
});

describe('an event without room', () => {
  test('makes its pod synced later, once', async () => {
    await using runtime = await startRuntime();
    let room = 4;
    await using ground = await startGeneric(runtime, {room: () => room});
    await until(() => ground.events.length === 4);
    runtime.state.containers.delete('main');
    await ground.nextRelist();
    await until(() => ground.notices.some(({kind}) => kind === 'event-discarded'));
    expect(ground.pleg.cache.get(uid).containers).toEqual([]);
    await ground.nextRelist();
    expect(ground.events).toHaveLength(4);
    room = 100;
    await ground.nextRelist();
    await ground.nextRelist();
    expect(ground.events.slice(4)).toEqual([{uid, type: 'PodSync'}]);
  });
});

describe('health', () => {
  test('is missing until a relist has succeeded', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('ListContainers', {...RUNTIME_GONE, times: 1});
    await using ground = await startGeneric(runtime);
    expect(ground.pleg.unhealthy()).toBe('pleg has yet to be successful');
    await ground.nextRelist();
    expect(ground.pleg.unhealthy()).toBeUndefined();
  });

  test('is missing when relists have failed for three minutes, and back with the first that succeeds', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    runtime.injectError('ListPodSandbox', RUNTIME_GONE);
    runtime.exitContainer('main', 1);
    // A minute of failures is nothing.
    for (let second = 0; second < 60; second += 1) await ground.nextRelist('relist-failed');
    expect(ground.pleg.unhealthy()).toBeUndefined();
    await ground.clock.advance(121_000);
    expect(ground.pleg.unhealthy()).toBe('pleg was last seen active 3m1s ago; threshold is 3m0s');
    runtime.clearFaults();
    await ground.nextRelist();
    expect(ground.pleg.unhealthy()).toBeUndefined();
    await until(() => ground.events.length === 5);
    expect(told(ground.events).at(-1)).toBe('ContainerDied main');
  });

  test('comes back by itself when only the clock was put forward', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.clock.sleeping > 0);
    ground.clock.jump(3_600_000);
    expect(ground.pleg.unhealthy()).toBe('pleg was last seen active 1h0m0s ago; threshold is 3m0s');
    await until(() => ground.relists() === 2);
    expect(ground.pleg.unhealthy()).toBeUndefined();
  });

  test('counts anew when the clock was put back', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.clock.sleeping > 0);
    runtime.injectDelay('ListPodSandbox', 1e9);
    ground.clock.jump(-3_600_000);
    expect(ground.pleg.unhealthy()).toBeUndefined();
    await ground.clock.advance(181_000);
    expect(ground.pleg.unhealthy()).toBe('pleg was last seen active 3m1s ago; threshold is 3m0s');
  });

  test('nobody waits for a clock that was put back', async () => {
    await using runtime = await startRuntime();
    await using ground = await startGeneric(runtime);
    await until(() => ground.events.length === 4);
    const time = ground.clock.now() + 500;
    ground.clock.jump(-3_600_000);
    runtime.exitContainer('main', 1);
    const status = await ground.pleg.cache.getNewerThan(uid, time, never);
    expect(status.containers[0]?.state).toBe('CONTAINER_EXITED');
  });
});

test('500 pods of three containers are listed by two calls, and one death is five', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({pods: 500, containers: 1500});
  await using ground = await startGeneric(runtime);
  await until(() => ground.events.length === 2000);
  runtime.clearCalls();
  for (let n = 0; n < 5; n += 1) await ground.nextRelist();
  expect(runtime.calls).toHaveLength(10);
  runtime.clearCalls();
  runtime.exitContainer(runtime.containers[700]?.id ?? '', 1);
  await ground.nextRelist();
  await until(() => ground.events.length === 2001);
  expect(runtime.calls.filter(({method}) => method.endsWith('Status'))).toHaveLength(4);
});
