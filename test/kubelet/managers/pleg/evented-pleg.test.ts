import {describe, expect, test} from 'vitest';
import {containerId, podUid, type ContainerEventResponse} from '../../../../src/cri/index.js';
import {until} from '../../../base/until.js';
import {EventFeed} from '../../../fakes/runtime/event-feed.js';
import {aContainer, aSandbox, FakeRuntime} from '../../../fakes/fake-runtime.js';
import {startEventedPleg, formatEvents, type PlegTestbed, type PlegTestbedOptions} from './pleg-testbed.js';
import type {EventedPleg} from '../../../../src/kubelet/managers/pleg/evented-pleg.js';

const never = new AbortController().signal;

const uid = podUid('uid-of-web');
const sandbox = aSandbox({id: 'sandbox', name: 'web', uid});
const main = aContainer({id: 'main', sandbox});
const other = aContainer({
  id: 'other',
  sandbox: aSandbox({id: 'other-sandbox', name: 'api', uid: 'uid-of-api'}),
});

const startRuntime = (): Promise<FakeRuntime> => FakeRuntime.start({containers: [main, other]});

type EventedTestbed = PlegTestbed<EventedPleg>;

const noticed = ({notices}: EventedTestbed, kind: string): number =>
  notices.filter((notice) => notice.kind === kind).length;

/** Waits until the PLEG relies on events: the stream is open for a second, and two relists found no change. */
async function settle(testbed: EventedTestbed): Promise<void> {
  await until(() => testbed.events.length === 4);
  await testbed.clock.advance(1000);
  await until(() => noticed(testbed, 'stream-trusted') === 1);
  while (testbed.relists() < 3) await testbed.nextRelist();
  await until(() => testbed.clock.sleeping > 0);
}

async function startSettled(runtime: FakeRuntime, seed?: PlegTestbedOptions): Promise<EventedTestbed> {
  const testbed = await startEventedPleg(runtime, seed);
  await settle(testbed);
  return testbed;
}

interface TestbedWithFeed extends EventedTestbed {
  readonly feed: EventFeed<ContainerEventResponse>;
}

/** Starts a PLEG that gets its events from the test. */
async function startWithFeed(runtime: FakeRuntime): Promise<TestbedWithFeed> {
  const feed = new EventFeed<ContainerEventResponse>();
  const testbed = await startSettled(runtime, {
    getContainerEvents: (_request, options) => feed.listen(options?.signal ?? never),
  });
  return Object.assign(testbed, {feed});
}

/** Returns an event of a container or sandbox of web, as containerd sends it. */
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

describe('runtime events', () => {
  test('report the death of a container at once, with one inspection of the pod', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startSettled(runtime);
    const relists = testbed.relists();
    runtime.clearCalls();
    runtime.exitContainer('main', 137);
    await until(() => testbed.events.length === 5);
    expect(testbed.events.at(-1)).toEqual({uid, type: 'ContainerDied', id: 'main'});
    expect(testbed.pleg.cache.get(uid).containers[0]?.cri.exitCode).toBe(137);
    expect(testbed.relists()).toBe(relists);
    expect(runtime.calls.map(({method}) => method).toSorted()).toEqual([
      'ContainerStatus',
      'ListContainers',
      'ListPodSandbox',
      'PodSandboxStatus',
    ]);
  });

  test('make relists rare', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startSettled(runtime);
    expect(await testbed.nextRelist()).toBe(30);
    expect(await testbed.nextRelist()).toBe(30);
    expect(testbed.pleg.unhealthyReason()).toBeUndefined();
  });

  test('that are duplicate, late or reordered cause no duplicate lifecycle events', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    runtime.exitContainer('main', 1);
    for (const type of ['STOPPED', 'STARTED', 'STOPPED', 'CREATED', 'STOPPED'] as const)
      testbed.feed.publish(anEvent(type, 'main'));
    await until(() => testbed.events.length === 5);
    for (const id of ['main', 'main', 'sandbox']) testbed.feed.publish(anEvent('STARTED', id));
    await testbed.pleg.cache.getNewerThan(uid, testbed.pleg.cache.mark(), never);
    await testbed.nextRelist();
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerDied main']);
    expect(noticed(testbed, 'event-missed')).toBe(0);
  });

  test('that precede the change in the runtime cause another inspection', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    runtime.clearCalls();
    testbed.feed.publish(anEvent('STOPPED', 'main'));
    await until(() => runtime.callsTo('ContainerStatus').length === 1);
    runtime.exitContainer('main', 1);
    await testbed.pleg.cache.getNewerThan(podUid('none'), testbed.pleg.cache.mark(), never);
    expect(await testbed.nextRelist()).toBeLessThan(3);
    await until(() => testbed.events.length >= 5);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerDied main']);
  });

  test('of a removed sandbox contain only its ID', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    runtime.state.containers.delete('main');
    runtime.state.sandboxes.delete('sandbox');
    const event = {...anEvent('DELETED', 'sandbox'), podSandboxStatus: undefined};
    testbed.feed.publish({...event, containerId: containerId('unknown')});
    testbed.feed.publish(event);
    await until(() => testbed.events.length === 8);
    expect(formatEvents(testbed.events).at(-1)).toBe('ContainerRemoved sandbox');
    expect(testbed.pleg.runningPods().map(({name}) => name)).toEqual(['api']);
  });

  test('of a created container cause no inspection until the status is requested', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    const time = testbed.clock.now() - 1;
    runtime.clearCalls();
    runtime.state.addContainer(aContainer({id: 'next', sandbox, name: 'next', state: 'CONTAINER_CREATED'}));
    testbed.feed.publish(anEvent('CREATED', 'next'));
    await until(
      async () => (await testbed.pleg.cache.getNewerThan(uid, time, never)).containers.length === 2,
    );
    expect(testbed.events).toHaveLength(4);
    expect(runtime.callsTo('ListContainers')).toHaveLength(1);
  });

  test('of a start cause no inspection, if one shows the container within a second', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    runtime.clearCalls();
    runtime.state.addContainer(aContainer({id: 'next', sandbox, name: 'next'}));
    for (let n = 0; n < 3; n += 1) testbed.feed.publish(anEvent('STARTED', 'next'));
    testbed.feed.publish(anEvent('STARTED', 'main'));
    await until(() => testbed.clock.sleeping > 3);
    testbed.pleg.requestRelist(uid);
    await until(() => testbed.events.length === 5);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerStarted next']);
    await testbed.clock.advance(1000);
    await testbed.nextRelist();
    expect(runtime.callsTo('PodSandboxStatus')).toHaveLength(1);
    expect(noticed(testbed, 'event-missed')).toBe(0);
  });

  test('of a start that nobody has seen yet are no reason to distrust events', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    expect(await testbed.nextRelist()).toBe(30);
    await testbed.clock.advance(29_500);
    runtime.state.addContainer(aContainer({id: 'next', sandbox, name: 'next'}));
    testbed.feed.publish(anEvent('STARTED', 'next'));
    await until(() => testbed.clock.sleeping > 1);
    // This relist is the first to see the container.
    await testbed.nextRelist();
    await until(() => testbed.events.length === 5);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerStarted next']);
    expect(noticed(testbed, 'event-missed')).toBe(0);
  });

  test('of a start that nobody inspects cause an inspection after a second', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startWithFeed(runtime);
    runtime.state.addContainer(aContainer({id: 'next', sandbox, name: 'next'}));
    testbed.feed.publish(anEvent('STARTED', 'next'));
    const relists = testbed.relists();
    await until(() => testbed.clock.sleeping > 1);
    await testbed.clock.advance(1000);
    await until(() => testbed.events.length === 5);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerStarted next']);
    expect(testbed.relists()).toBe(relists);
  });

  test('of pods of other clients cause no inspection', async () => {
    await using runtime = await startRuntime();
    const isManaged: PlegTestbedOptions['isManaged'] = (pod) => pod !== uid;
    const feed = new EventFeed<ContainerEventResponse>();
    await using testbed = await startEventedPleg(runtime, {
      isManaged,
      getContainerEvents: () => feed.listen(never),
    });
    await until(() => testbed.events.length === 2);
    runtime.clearCalls();
    for (let n = 0; n < 100; n += 1) feed.publish(anEvent('STOPPED', 'main'));
    await testbed.pleg.cache.getNewerThan(podUid('uid-of-api'), testbed.pleg.cache.mark(), never);
    expect(runtime.callsTo('PodSandboxStatus').map(({request}) => request)).toEqual([
      {pod_sandbox_id: 'other-sandbox'},
    ]);
    feed.end();
  });
});

describe('an event stream that ends', () => {
  test('causes a relist at once and is opened again', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startSettled(runtime);
    const relists = testbed.relists();
    runtime.state.events.end();
    await until(() => testbed.relists() > relists);
    expect(testbed.notices.find(({kind}) => kind === 'stream-failed')).toMatchObject({retryMs: 1000});
    // There is no event for this change.
    runtime.exitContainer('main', 1);
    await testbed.nextRelist();
    await until(() => testbed.events.length === 5);
    while (noticed(testbed, 'stream-trusted') < 2) await testbed.nextRelist();
    while ((await testbed.nextRelist()) < 30);
    runtime.exitContainer('other', 1);
    await until(() => testbed.events.length === 6);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerDied main', 'ContainerDied other']);
  });

  test('because the runtime restarts loses no deaths of containers', async () => {
    await using runtime = await startRuntime();
    await using testbed = await startSettled(runtime);
    await runtime.crash();
    await until(() => noticed(testbed, 'stream-failed') === 1);
    runtime.exitContainer('main', 1);
    for (let second = 0; second < 5; second += 1) await testbed.nextRelist('relist-failed');
    expect(testbed.events).toHaveLength(4);
    await runtime.restart();
    await testbed.nextRelist();
    await until(() => testbed.events.length >= 5);
    while (noticed(testbed, 'stream-trusted') < 2) await testbed.nextRelist();
    expect(formatEvents(testbed.events).filter((event) => event.startsWith('ContainerDied'))).toEqual([
      'ContainerDied main',
    ]);
  });

  test('five times in a row is not opened again until the runtime was unavailable; relists are frequent', async () => {
    await using runtime = await startRuntime();
    let failures = 0;
    const getContainerEvents: PlegTestbedOptions['getContainerEvents'] = (_request, options) => {
      failures += 1;
      if (failures <= 5) throw new Error('no runtime');
      return new EventFeed<ContainerEventResponse>().listen(options?.signal ?? never);
    };
    await using testbed = await startEventedPleg(runtime, {getContainerEvents});
    while (noticed(testbed, 'stream-failed') < 5) expect(await testbed.nextRelist()).toBeLessThan(3);
    expect(
      testbed.notices.flatMap((notice) => (notice.kind === 'stream-failed' ? [notice.retryMs] : [])),
    ).toEqual([1000, 2000, 4000, 8000, undefined]);
    for (let second = 0; second < 200; second += 1) await testbed.nextRelist();
    expect(failures).toBe(5);
    await runtime.crash();
    await testbed.nextRelist('relist-failed');
    await runtime.restart();
    while (noticed(testbed, 'stream-trusted') === 0) expect(await testbed.nextRelist()).toBeLessThan(3);
    while ((await testbed.nextRelist()) < 30);
  });

  test('because the runtime does not implement it is not opened again until the runtime restarts', async () => {
    await using runtime = await FakeRuntime.start({
      containers: [main, other],
      unimplemented: ['GetContainerEvents'],
    });
    await using testbed = await startEventedPleg(runtime);
    await until(() => noticed(testbed, 'stream-failed') === 1);
    expect(testbed.notices.find(({kind}) => kind === 'stream-failed')).toMatchObject({retryMs: undefined});
    await until(() => testbed.events.length === 4);
    runtime.exitContainer('main', 1);
    for (let n = 0; n < 10; n += 1) expect(await testbed.nextRelist()).toBeLessThan(3);
    await until(() => testbed.events.length > 4);
    expect(formatEvents(testbed.events.slice(4))).toEqual(['ContainerDied main']);
    for (let second = 0; second < 200; second += 1) await testbed.nextRelist();
    expect(runtime.callsTo('GetContainerEvents')).toHaveLength(1);

    await runtime.crash();
    await testbed.nextRelist('relist-failed');
    await runtime.restart();
    await testbed.nextRelist();
    await until(() => runtime.callsTo('GetContainerEvents').length === 2);
    await until(() => noticed(testbed, 'stream-failed') === 2);
  });
});

test('the PLEG does not rely on events for a while after they missed a change', async () => {
  await using runtime = await startRuntime();
  await using testbed = await startWithFeed(runtime);
  runtime.exitContainer('main', 1);
  expect(await testbed.nextRelist()).toBe(30);
  await until(() => testbed.events.length === 5);
  expect(testbed.notices.at(-1)).toEqual({kind: 'event-missed', uid});
  let shortPeriods = 0;
  while ((await testbed.nextRelist()) < 30) shortPeriods += 1;
  expect(shortPeriods).toBe(60);
});

function ofSandbox(
  id: string,
  labels: Readonly<Record<string, string>>,
  event: ContainerEventResponse,
): ContainerEventResponse {
  return {...event, podSandboxStatus: {id, labels}} as unknown as ContainerEventResponse;
}

test('1,500 simultaneous events cause at most two inspections per pod, sixteen at a time', async () => {
  const PODS = 100;
  await using runtime = await FakeRuntime.start();
  runtime.fill({pods: PODS, containers: PODS * 3});
  const feed = new EventFeed<ContainerEventResponse>();
  await using testbed = await startEventedPleg(runtime, {getContainerEvents: () => feed.listen(never)});
  await until(() => testbed.events.length === PODS * 4);
  runtime.clearCalls();
  let maxConcurrent = 0;
  const concurrent = (): number => runtime.calls.filter(({code}) => code === undefined).length;
  for (const {config, sandboxId, id} of runtime.containers) {
    const labels = {'io.kubernetes.pod.uid': config.labels['io.kubernetes.pod.uid'] ?? ''};
    runtime.exitContainer(id, 1);
    for (let n = 0; n < 5; n += 1) feed.publish(ofSandbox(sandboxId, labels, anEvent('STOPPED', id)));
  }
  await until(() => {
    maxConcurrent = Math.max(maxConcurrent, concurrent());
    return testbed.events.length === PODS * 7;
  });
  expect(runtime.callsTo('ListPodSandbox').length).toBeLessThanOrEqual(2 * PODS);
  expect(maxConcurrent).toBeLessThanOrEqual(16 * 4);
  feed.end();
});
