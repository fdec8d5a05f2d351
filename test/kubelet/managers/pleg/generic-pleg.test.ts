import {describe, expect, test} from 'vitest';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import {until} from '../../../base/until.js';
import {aContainer, aSandbox, FakeRuntime} from '../../../fakes/fake-runtime.js';
import {startGenericPleg, formatEvents} from './pleg-testbed.js';

const never = new AbortController().signal;
const RUNTIME_UNAVAILABLE = {code: 'UNAVAILABLE', message: 'no runtime'} as const;

const uid = podUid('uid-of-web');
const sandbox = aSandbox({id: 'sandbox', name: 'web', uid});
const main = aContainer({id: 'main', sandbox});
const other = aContainer({
  id: 'other',
  sandbox: aSandbox({id: 'other-sandbox', name: 'api', uid: 'uid-of-api'}),
});

const startRuntime = (): Promise<FakeRuntime> => FakeRuntime.start({containers: [main, other]});

describe('a relist', () => {
  test('finds running containers and those that died since the last relist', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    expect(formatEvents(testbed.events).toSorted()).toEqual([
      'ContainerStarted main',
      'ContainerStarted other',
      'ContainerStarted other-sandbox',
      'ContainerStarted sandbox',
    ]);
    runtime.exitContainer('main', 1);
    expect(await testbed.nextRelist()).toBe(1);
    await until(() => testbed.events.length === 5);
    expect(testbed.events.at(-1)).toEqual({uid, type: 'ContainerDied', id: 'main'});
    expect(testbed.pleg.cache.get(uid).containers[0]?.state).toBe('CONTAINER_EXITED');
  });

  test('inspects only the pods that have changed', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    runtime.clearCalls();
    await testbed.nextRelist();
    await testbed.nextRelist();
    expect(new Set(runtime.calls.map(({method}) => method))).toEqual(
      new Set(['ListPodSandbox', 'ListContainers']),
    );
    runtime.exitContainer('main', 0);
    await testbed.nextRelist();
    await until(() => testbed.events.length === 5);
    expect(runtime.callsTo('PodSandboxStatus').map(({request}) => request)).toEqual([
      {pod_sandbox_id: 'sandbox'},
    ]);
  });

  test('a worker joins the inspection that was requested after its work', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    runtime.clearCalls();
    const mark = testbed.pleg.cache.mark();
    testbed.pleg.requestRelist(uid);
    const status = await testbed.pleg.cache.getNewerThan(uid, mark, never);
    expect(status.containers.map(({id}) => id)).toEqual(['main']);
    await testbed.pleg.cache.getNewerThan(uid, testbed.pleg.cache.mark(), never);
    expect(runtime.callsTo('PodSandboxStatus')).toHaveLength(2);
  });

  test('reports removed containers and forgets their pod', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    runtime.state.containers.delete('main');
    runtime.state.sandboxes.delete('sandbox');
    await testbed.nextRelist();
    await until(() => testbed.events.length === 8);
    expect(formatEvents(testbed.events.slice(4))).toEqual([
      'ContainerDied main',
      'ContainerRemoved main',
      'ContainerDied sandbox',
      'ContainerRemoved sandbox',
    ]);
    expect(testbed.pleg.cache.get(uid)).toMatchObject({sandboxes: [], containers: []});
    expect(testbed.pleg.runningPods().map(({name}) => name)).toEqual(['api']);
    expect(testbed.pleg.inspector.cache.size).toBe(1);
  });

  test('makes the status of an unchanged pod newer without an inspection', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    const time = testbed.clock.now();
    await testbed.nextRelist();
    runtime.clearCalls();
    await testbed.pleg.cache.getNewerThan(uid, time, never);
    expect(runtime.calls).toEqual([]);
  });

  test('uses pagination if a list exceeds the maximum message size', async () => {
    await using runtime = await startRuntime();
    const tooLong = {code: 'RESOURCE_EXHAUSTED', message: 'larger than max'} as const;
    const isWhole = (request: object): boolean => Object.keys(request).length === 0;
    runtime.injectError('ListContainers', {...tooLong, match: isWhole});
    runtime.injectError('ListPodSandbox', {...tooLong, match: isWhole});
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    expect(testbed.relists('relist-failed')).toBe(0);
  });
});

describe('a pod of another client', () => {
  test('is not inspected and causes no events, but counts as running', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime, {isManaged: (pod) => pod === uid});
    await until(() => testbed.events.length === 2);
    runtime.exitContainer('other', 1);
    await testbed.nextRelist();
    await testbed.nextRelist();
    expect(formatEvents(testbed.events)).toEqual(['ContainerStarted main', 'ContainerStarted sandbox']);
    expect(runtime.callsTo('ContainerStatus')).toHaveLength(1);
    expect(testbed.pleg.runningPods()).toMatchObject([
      {uid, isRunning: true},
      {uid: 'uid-of-api', namespace: 'default', isRunning: true},
    ]);
  });

  test('causes events once it is managed, and is forgotten once it is not', async () => {
    await using runtime = await startRuntime();
    const managed = new Set<PodUid>([uid]);
    await using testbed = await startGenericPleg(runtime, {isManaged: (pod) => managed.has(pod)});
    await until(() => testbed.events.length === 2);
    managed.clear();
    managed.add(podUid('uid-of-api'));
    await testbed.nextRelist();
    await until(() => testbed.events.length === 4);
    expect(formatEvents(testbed.events.slice(2))).toEqual([
      'ContainerStarted other',
      'ContainerStarted other-sandbox',
    ]);
    expect(testbed.pleg.cache.get(uid).containers).toEqual([]);
  });
});

describe('a pod whose inspection fails', () => {
  test('causes all events once an inspection succeeds', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    const ofMain = (request: object): boolean => JSON.stringify(request).includes('"main"');
    runtime.injectError('ContainerStatus', {...RUNTIME_UNAVAILABLE, times: 2, match: ofMain});
    runtime.exitContainer('main', 1);
    for (const failures of [1, 2]) {
      await testbed.nextRelist();
      await until(() => testbed.notices.filter(({kind}) => kind === 'inspection-failed').length === failures);
      expect(() => testbed.pleg.cache.get(uid)).toThrow('no runtime');
      expect(testbed.events).toHaveLength(4);
    }
    await testbed.nextRelist();
    await until(() => testbed.events.length === 5);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerDied main']);
  });

  test('is synced once an inspection succeeds, even without a change', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    runtime.injectError('PodSandboxStatus', {...RUNTIME_UNAVAILABLE, times: 1});
    testbed.pleg.requestRelist(uid);
    await until(() => testbed.notices.some(({kind}) => kind === 'inspection-failed'));
    await testbed.nextRelist();
    await until(() => testbed.events.length === 5);
    expect(testbed.events.at(-1)).toEqual({uid, type: 'PodSync'});
  });

  test('because the runtime hangs does not block other pods', async () => {
    await using runtime = await startRuntime();
    const ofMain = (request: object): boolean => JSON.stringify(request).includes('"main"');
    runtime.injectDelay('ContainerStatus', 1e9, {match: ofMain});
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 2);
    runtime.exitContainer('other', 1);
    await testbed.nextRelist();
    await until(() => testbed.events.length === 3);
    expect(formatEvents(testbed.events).at(-1)).toBe('ContainerDied other');
    expect(testbed.pleg.unhealthyReason()).toBeUndefined();
  });
});

describe('a request', () => {
  test('causes an inspection before the next relist', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    runtime.exitContainer('main', 1);
    for (let n = 0; n < 100; n += 1) testbed.pleg.requestRelist(uid);
    await until(() => testbed.events.length === 5);
    expect(testbed.relists()).toBe(1);
    expect(runtime.callsTo('ContainerStatus').length).toBeLessThanOrEqual(4);
  });

  test('for a newer status causes an inspection, also of a pod that was not listed yet', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    const late = aContainer({
      id: 'late',
      sandbox: aSandbox({id: 'late-sandbox', name: 'late', uid: 'uid-late'}),
    });
    runtime.state.addContainer(late);
    const status = await testbed.pleg.cache.getNewerThan(
      podUid('uid-late'),
      testbed.pleg.cache.mark(),
      never,
    );
    expect(status).toMatchObject({name: 'late', namespace: 'default', containers: [{id: 'late'}]});
    expect(formatEvents(testbed.events.slice(4))).toEqual([
      'ContainerStarted late',
      'ContainerStarted late-sandbox',
    ]);
    expect(testbed.pleg.runningPods()).toHaveLength(3);
    expect(testbed.relists()).toBe(1);
  });

  test('that waits rejects with the reason when the PLEG stops', async () => {
    await using runtime = await startRuntime();
    const stop = new AbortController();
    await using testbed = await startGenericPleg(runtime, {signal: stop.signal});
    runtime.injectDelay('PodSandboxStatus', 1e9);
    const requested = testbed.pleg.cache.getNewerThan(uid, testbed.pleg.cache.mark(), never);
    stop.abort(new Error('shutting down'));
    await expect(requested).rejects.toThrow('shutting down');
  });
});

describe('a discarded event', () => {
  test('causes one PodSync later', async () => {
    await using runtime = await startRuntime();
    let room = 4;
    await using testbed = await startGenericPleg(runtime, {room: () => room});
    await until(() => testbed.events.length === 4);
    runtime.state.containers.delete('main');
    await testbed.nextRelist();
    await until(() => testbed.notices.some(({kind}) => kind === 'event-discarded'));
    expect(testbed.pleg.cache.get(uid).containers).toEqual([]);
    await testbed.nextRelist();
    expect(testbed.events).toHaveLength(4);
    room = 100;
    await testbed.nextRelist();
    await testbed.nextRelist();
    expect(testbed.events.slice(4)).toEqual([{uid, type: 'PodSync'}]);
  });
});

describe('the PLEG', () => {
  test('is unhealthy until a relist has succeeded', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('ListContainers', {...RUNTIME_UNAVAILABLE, times: 1});
    await using testbed = await startGenericPleg(runtime);
    expect(testbed.pleg.unhealthyReason()).toBe('pleg has yet to be successful');
    await testbed.nextRelist();
    expect(testbed.pleg.unhealthyReason()).toBeUndefined();
  });

  test('is unhealthy after relists have failed for three minutes, until one succeeds', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    runtime.injectError('ListPodSandbox', RUNTIME_UNAVAILABLE);
    runtime.exitContainer('main', 1);
    // Failures for a minute are below the threshold.
    for (let second = 0; second < 60; second += 1) await testbed.nextRelist('relist-failed');
    expect(testbed.pleg.unhealthyReason()).toBeUndefined();
    await testbed.clock.advance(121_000);
    expect(testbed.pleg.unhealthyReason()).toBe('pleg was last seen active 3m1s ago; threshold is 3m0s');
    runtime.clearFaults();
    await testbed.nextRelist();
    expect(testbed.pleg.unhealthyReason()).toBeUndefined();
    await until(() => testbed.events.length === 5);
    expect(formatEvents(testbed.events).at(-1)).toBe('ContainerDied main');
  });

  test.each([3_600_000, -3_600_000])('keeps its threshold if the clock is set by %d ms', async (jumpMs) => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.clock.sleeping > 0);
    runtime.injectDelay('ListPodSandbox', 1e9);
    testbed.clock.jump(jumpMs);
    expect(testbed.pleg.unhealthyReason()).toBeUndefined();
    await testbed.clock.advance(181_000);
    expect(testbed.pleg.unhealthyReason()).toBe('pleg was last seen active 3m1s ago; threshold is 3m0s');
  });

  test('returns a newer status at once if the clock was set back', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startGenericPleg(runtime);
    await until(() => testbed.events.length === 4);
    const time = testbed.clock.now() + 500;
    testbed.clock.jump(-3_600_000);
    runtime.exitContainer('main', 1);
    const status = await testbed.pleg.cache.getNewerThan(uid, time, never);
    expect(status.containers[0]?.state).toBe('CONTAINER_EXITED');
  });
});

test('a relist of 500 pods with three containers takes two calls, and the inspection of one pod four more', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({pods: 500, containers: 1500});
  await using testbed = await startGenericPleg(runtime);
  await until(() => testbed.events.length === 2000);
  runtime.clearCalls();
  for (let n = 0; n < 5; n += 1) await testbed.nextRelist();
  expect(runtime.calls).toHaveLength(10);
  runtime.clearCalls();
  runtime.exitContainer(runtime.containers[700]?.id ?? '', 1);
  await testbed.nextRelist();
  await until(() => testbed.events.length === 2001);
  expect(runtime.calls.filter(({method}) => method.endsWith('Status'))).toHaveLength(4);
});
