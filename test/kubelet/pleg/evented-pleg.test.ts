import {describe, expect, test} from 'vitest';
import {containerId, podUid, type ContainerEventResponse} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {Feed} from '../../fakes/events.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {startEvented, told, type PlegGround, type PlegSeed} from './pleg-ground.js';
import type {EventedPleg} from '../../../src/kubelet/pleg/evented-pleg.js';

const never = new AbortController().signal;

const uid = podUid('uid-of-web');
const sandbox = aSandbox({id: 'sandbox', name: 'web', uid});
const main = aContainer({id: 'main', sandbox});
const other = aContainer({
  id: 'other',
  sandbox: aSandbox({id: 'other-sandbox', name: 'api', uid: 'uid-of-api'}),
});

const startRuntime = (): Promise<FakeRuntime> => FakeRuntime.start({containers: [main, other]});

type Ground = PlegGround<EventedPleg>;

const noticed = ({notices}: Ground, kind: string): number =>
  notices.filter((notice) => notice.kind === kind).length;

/** Lets the PLEG come to rely on events: they have come for a second, and two relists have found nothing. */
async function settle(ground: Ground): Promise<void> {
  await until(() => ground.events.length === 4);
  await ground.clock.advance(1000);
  await until(() => noticed(ground, 'stream-trusted') === 1);
  while (ground.relists() < 3) await ground.nextRelist();
  await until(() => ground.clock.sleeping > 0);
}

async function startSettled(runtime: FakeRuntime, seed?: PlegSeed): Promise<Ground> {
  const ground = await startEvented(runtime, seed);
  await settle(ground);
  return ground;
}

interface FedGround extends Ground {
  readonly feed: Feed<ContainerEventResponse>;
}

/** A PLEG that gets its events from the test. */
async function startFed(runtime: FakeRuntime): Promise<FedGround> {
  const feed = new Feed<ContainerEventResponse>();
  const ground = await startSettled(runtime, {
    getContainerEvents: (_request, options) => feed.listen(options?.signal ?? never),
  });
  return Object.assign(ground, {feed});
}

/** An event of a container or sandbox of web, as containerd sends it. */
function anEvent(type: 'CREATED' | 'STARTED' | 'STOPPED' | 'DELETED', id: string): ContainerEventResponse {
  const podSandboxStatus = {id: 'sandbox', metadata: sandbox.config.metadata, labels: sandbox.config.labels};
  return {
    containerId: containerId(id),
    containerEventType: `CONTAINER_${type}_EVENT`,
    createdAt: 1n,
    podSandboxStatus,
    containersStatuses: [],
  } as unknown as ContainerEventResponse;
}

describe('the events of the runtime', () => {
  test('tell of a death at once, and a pod is read once for it', async () => {
    await using runtime = await startRuntime();
    await using ground = await startSettled(runtime);
    const relists = ground.relists();
    runtime.clearCalls();
    runtime.exitContainer('main', 137);
    await until(() => ground.events.length === 5);
    expect(ground.events.at(-1)).toEqual({uid, type: 'ContainerDied', id: 'main'});
    expect(ground.pleg.cache.get(uid).containers[0]?.cri.exitCode).toBe(137);
    expect(ground.relists()).toBe(relists);
    expect(runtime.calls.map(({method}) => method).toSorted()).toEqual([
      'ContainerStatus',
      'ListContainers',
      'ListPodSandbox',
      'PodSandboxStatus',
    ]);
  });

  test('make relists seldom', async () => {
    await using runtime = await startRuntime();
    await using ground = await startSettled(runtime);
    expect(await ground.nextRelist()).toBe(30);
    expect(await ground.nextRelist()).toBe(30);
    expect(ground.pleg.unhealthy()).toBeUndefined();
  });

  test('that come twice, late and in the wrong order tell of nothing twice', async () => {
    await using runtime = await startRuntime();
    await using ground = await startFed(runtime);
    runtime.exitContainer('main', 1);
    for (const type of ['STOPPED', 'STARTED', 'STOPPED', 'CREATED', 'STOPPED'] as const)
      ground.feed.publish(anEvent(type, 'main'));
    await until(() => ground.events.length === 5);
    for (const id of ['main', 'main', 'sandbox']) ground.feed.publish(anEvent('STARTED', id));
    await ground.pleg.cache.getNewerThan(uid, ground.clock.now(), never);
    await ground.nextRelist();
    expect(told(ground.events.slice(4))).toEqual(['ContainerDied main']);
    expect(noticed(ground, 'event-missed')).toBe(0);
  });

  test('that are ahead of what the runtime shows make the pod looked at again', async () => {
    await using runtime = await startRuntime();
    await using ground = await startFed(runtime);
    runtime.clearCalls();
    ground.feed.publish(anEvent('STOPPED', 'main'));
    await until(() => runtime.callsTo('ContainerStatus').length === 1);
    runtime.exitContainer('main', 1);
    await ground.pleg.cache.getNewerThan(podUid('none'), ground.clock.now(), never);
    expect(await ground.nextRelist()).toBeLessThan(3);
    await until(() => ground.events.length >= 5);
    expect(told(ground.events.slice(4))).toEqual(['ContainerDied main']);
  });

  test('of a sandbox that is gone say only its id', async () => {
    await using runtime = await startRuntime();
    await using ground = await startFed(runtime);
    runtime.state.containers.delete('main');
    runtime.state.sandboxes.delete('sandbox');
    const event = {...anEvent('DELETED', 'sandbox'), podSandboxStatus: undefined};
    ground.feed.publish({...event, containerId: containerId('of somebody')});
    ground.feed.publish(event);
    await until(() => ground.events.length === 8);
    expect(told(ground.events).at(-1)).toBe('ContainerRemoved sandbox');
    expect(ground.pleg.runningPods().map(({name}) => name)).toEqual(['api']);
  });

  test('of a container that is made have nothing read until somebody asks', async () => {
    await using runtime = await startRuntime();
    await using ground = await startFed(runtime);
    const time = ground.clock.now() - 1;
    runtime.clearCalls();
    runtime.state.addContainer(aContainer({id: 'next', sandbox, name: 'next', state: 'CONTAINER_CREATED'}));
    ground.feed.publish(anEvent('CREATED', 'next'));
    await until(async () => (await ground.pleg.cache.getNewerThan(uid, time, never)).containers.length === 2);
    expect(ground.events).toHaveLength(4);
    expect(runtime.callsTo('ListContainers')).toHaveLength(1);
  });

  test("of somebody else's pods have nothing read", async () => {
    await using runtime = await startRuntime();
    const isOurs: PlegSeed['isOurs'] = (asked) => asked !== uid;
    const feed = new Feed<ContainerEventResponse>();
    await using ground = await startEvented(runtime, {isOurs, getContainerEvents: () => feed.listen(never)});
    await until(() => ground.events.length === 2);
    runtime.clearCalls();
    for (let n = 0; n < 100; n += 1) feed.publish(anEvent('STOPPED', 'main'));
    await ground.pleg.cache.getNewerThan(podUid('uid-of-api'), ground.clock.now(), never);
    expect(runtime.callsTo('PodSandboxStatus').map(({request}) => request)).toEqual([
      {pod_sandbox_id: 'other-sandbox'},
    ]);
    feed.end();
  });
});

describe('events that end', () => {
  test('are relisted for at once, and asked for again', async () => {
    await using runtime = await startRuntime();
    await using ground = await startSettled(runtime);
    const relists = ground.relists();
    runtime.state.events.end();
    await until(() => ground.relists() > relists);
    expect(ground.notices.find(({kind}) => kind === 'stream-failed')).toMatchObject({retryMs: 1000});
    // Nobody heard of it.
    runtime.exitContainer('main', 1);
    await ground.nextRelist();
    await until(() => ground.events.length === 5);
    while (noticed(ground, 'stream-trusted') < 2) await ground.nextRelist();
    while ((await ground.nextRelist()) < 30);
    runtime.exitContainer('other', 1);
    await until(() => ground.events.length === 6);
    expect(told(ground.events.slice(4))).toEqual(['ContainerDied main', 'ContainerDied other']);
  });

  test('with the runtime, which comes back: what has died meanwhile is told of', async () => {
    await using runtime = await startRuntime();
    await using ground = await startSettled(runtime);
    await runtime.crash();
    await until(() => noticed(ground, 'stream-failed') === 1);
    runtime.exitContainer('main', 1);
    for (let second = 0; second < 5; second += 1) await ground.nextRelist('relist-failed');
    expect(ground.events).toHaveLength(4);
    await runtime.restart();
    await ground.nextRelist();
    await until(() => ground.events.length >= 5);
    while (noticed(ground, 'stream-trusted') < 2) await ground.nextRelist();
    expect(told(ground.events).filter((event) => event.startsWith('ContainerDied'))).toEqual([
      'ContainerDied main',
    ]);
  });

  test('five times in a row are not asked for any more until the runtime was away; relists are quick', async () => {
    await using runtime = await startRuntime();
    let failures = 0;
    const getContainerEvents: PlegSeed['getContainerEvents'] = (_request, options) => {
      failures += 1;
      if (failures <= 5) throw new Error('no runtime');
      return new Feed<ContainerEventResponse>().listen(options?.signal ?? never);
    };
    await using ground = await startEvented(runtime, {getContainerEvents});
    while (noticed(ground, 'stream-failed') < 5) expect(await ground.nextRelist()).toBeLessThan(3);
    expect(
      ground.notices.flatMap((notice) => (notice.kind === 'stream-failed' ? [notice.retryMs] : [])),
    ).toEqual([1000, 2000, 4000, 8000, undefined]);
    for (let second = 0; second < 200; second += 1) await ground.nextRelist();
    expect(failures).toBe(5);
    await runtime.crash();
    await ground.nextRelist('relist-failed');
    await runtime.restart();
    while (noticed(ground, 'stream-trusted') === 0) expect(await ground.nextRelist()).toBeLessThan(3);
    while ((await ground.nextRelist()) < 30);
  });

  test('at once because the runtime has none are not asked for until another one may be there', async () => {
    await using runtime = await FakeRuntime.start({
      containers: [main, other],
      unimplemented: ['GetContainerEvents'],
    });
    await using ground = await startEvented(runtime);
    await until(() => noticed(ground, 'stream-failed') === 1);
    expect(ground.notices.find(({kind}) => kind === 'stream-failed')).toMatchObject({retryMs: undefined});
    await until(() => ground.events.length === 4);
    runtime.exitContainer('main', 1);
    for (let n = 0; n < 10; n += 1) expect(await ground.nextRelist()).toBeLessThan(3);
    await until(() => ground.events.length > 4);
    expect(told(ground.events.slice(4))).toEqual(['ContainerDied main']);
    for (let second = 0; second < 200; second += 1) await ground.nextRelist();
    expect(runtime.callsTo('GetContainerEvents')).toHaveLength(1);

    await runtime.crash();
    await ground.nextRelist('relist-failed');
    await runtime.restart();
    await ground.nextRelist();
    await until(() => runtime.callsTo('GetContainerEvents').length === 2);
    await until(() => noticed(ground, 'stream-failed') === 2);
  });
});

test('events that have missed something are not relied on for a while', async () => {
  await using runtime = await startRuntime();
  await using ground = await startFed(runtime);
  runtime.exitContainer('main', 1);
  expect(await ground.nextRelist()).toBe(30);
  await until(() => ground.events.length === 5);
  expect(ground.notices.at(-1)).toEqual({kind: 'event-missed', uid});
  let quick = 0;
  while ((await ground.nextRelist()) < 30) quick += 1;
  expect(quick).toBe(60);
});

function ofSandbox(
  id: string,
  labels: Readonly<Record<string, string>>,
  event: ContainerEventResponse,
): ContainerEventResponse {
  return {...event, podSandboxStatus: {id, labels}} as unknown as ContainerEventResponse;
}

test('1,500 events at once are two looks for each pod, sixteen at a time', async () => {
  const PODS = 100;
  await using runtime = await FakeRuntime.start();
  runtime.fill({pods: PODS, containers: PODS * 3});
  const feed = new Feed<ContainerEventResponse>();
  await using ground = await startEvented(runtime, {getContainerEvents: () => feed.listen(never)});
  await until(() => ground.events.length === PODS * 4);
  runtime.clearCalls();
  let mostAtOnce = 0;
  const underWay = (): number => runtime.calls.filter(({code}) => code === undefined).length;
  for (const {config, sandboxId, id} of runtime.containers) {
    const labels = {'io.kubernetes.pod.uid': config.labels['io.kubernetes.pod.uid'] ?? ''};
    runtime.exitContainer(id, 1);
    for (let n = 0; n < 5; n += 1) feed.publish(ofSandbox(sandboxId, labels, anEvent('STOPPED', id)));
  }
  await until(() => {
    mostAtOnce = Math.max(mostAtOnce, underWay());
    return ground.events.length === PODS * 7;
  });
  expect(runtime.callsTo('ListPodSandbox').length).toBeLessThanOrEqual(2 * PODS);
  expect(mostAtOnce).toBeLessThanOrEqual(16 * 4);
  feed.end();
});
