import {describe, expect, test} from 'vitest';
import type {Pod} from '../../src/api/v1.js';
import type {PodStatus} from '../../src/api/v1-status.js';
import type {Clock} from '../../src/base/clock.js';
import {containerId, podUid, type PodUid} from '../../src/cri/index.js';
import type {PodEvent} from '../../src/kubelet/container/events.js';
import {Allocations} from '../../src/kubelet/allocation/allocations.js';
import type {RunningPod} from '../../src/kubelet/container/pleg.js';
import type {ProbeOutcome} from '../../src/kubelet/container/probe-results.js';
import type {DesiredPod, PodOperation} from '../../src/kubelet/container/pod-update.js';
import {KubeletHandler, type KubeletHandlerOptions} from '../../src/kubelet/kubelet-handler.js';
import {PodManager} from '../../src/kubelet/pod/pod-manager.js';
import type {WorkerUpdate} from '../../src/kubelet/pod-workers/worker-state.js';
import {until} from '../base/until.js';
import {GOLDEN_NODE} from '../golden/cases.js';
import {ManualClock} from '../streaming/manual-clock.js';
import {aClock} from './images/a-clock.js';
import {aContainer, aPod} from './kuberuntime/builders.js';
import {fakeLogger} from '../base/fake-logger.js';

/** What there is besides what the sources want. */
interface World {
  readonly ready?: boolean;
  readonly admission?: boolean;
  /** Pods whose records an earlier daemon has left, and which of them run. */
  readonly owned?: readonly string[];
  readonly running?: readonly string[];
  readonly ending?: readonly string[];
  readonly statuses?: Readonly<Record<string, PodStatus>>;
  /** Pods that are to end don't. */
  readonly hangs?: boolean;
}

const {signal} = new AbortController();

/** A handler that notes what it has others do. */
function aHandler<C extends Clock = ReturnType<typeof aClock>>(
  world: World = {},
  clock = aClock() as unknown as C,
) {
  const {
    ready = true,
    admission = true,
    owned = [],
    running = [],
    ending = [],
    statuses = {},
    hangs = false,
  } = world;
  const done: string[] = [];
  const events: PodEvent[] = [];
  const known = new Set<string>();
  const due: PodUid[] = [];
  const nameOf = (update: WorkerUpdate): string =>
    'pod' in update ? (update.pod.metadata.name ?? '') : `running ${update.running.name}`;
  const said: string[] = [];
  const logger = fakeLogger({
    info: (message, _fields, verbosity = 0) => void said.push(`${verbosity} ${message}`),
    error: (_error, message) => void said.push(`error ${message}`),
  });
  const options = {
    manager: new PodManager(),
    workers: {
      update: (update: WorkerUpdate) => {
        known.add('pod' in update ? (update.pod.metadata.uid ?? '') : update.running.uid);
        const grace = update.type === 'kill' ? update.kill?.gracePeriodSeconds : undefined;
        done.push(`${update.type} ${nameOf(update)}${grace === undefined ? '' : ` in ${grace} s`}`);
        if (update.type === 'kill' && !hangs) update.kill?.onCompleted?.();
      },
      takeDue: () => due.splice(0),
      syncKnown: () => undefined,
      isKnown: (uid: PodUid) => known.has(uid),
      isTerminationRequested: (uid: PodUid) => ending.includes(uid),
      isTerminated: () => false,
      shouldContentBeRemoved: () => false,
      couldHaveRunningContainers: () => true,
    },
    pods: {
      statusOf: (uid: PodUid) => statuses[uid],
      records: () => owned.map((uid) => ({uid: podUid(uid)})),
      remove: async (uid: PodUid) => void done.push(`remove ${uid}`),
      removeDead: async (uid: PodUid) => void done.push(`remove dead of ${uid}`),
      collectGarbage: async () => void done.push('collect garbage'),
      objectsChanged: () => void done.push('renew volumes'),
      probed: ({uid, probe, status}: ProbeOutcome) => void done.push(`${uid}: ${probe} ${status}`),
    },
    pleg: {
      unhealthy: () => undefined,
      runningPods: (): RunningPod[] =>
        running.map((uid) => ({uid: podUid(uid), name: uid, namespace: 'default', isRunning: true})),
    },
    allocations: new Allocations(),
    runtimeState: {errors: () => []},
    node: {...GOLDEN_NODE, maxPods: 2},
    clock,
    logger,
    events: (event: PodEvent) => void events.push(event),
    seenAllSources: () => ready,
    admission,
  } as unknown as KubeletHandlerOptions;
  const handler = new KubeletHandler(options);
  const tell = async (op: PodOperation, ...pods: readonly DesiredPod[]): Promise<void> => {
    await handler.handleConfig({op, source: 'file', pods}, signal);
  };
  return {handler, done, events, due, clock, tell, said};
}

/** A wanted pod whose uid is its name. */
function wanted(
  name: string,
  createdAt = '2026-05-01T12:00:00Z',
  pod: Partial<Pod['spec']> = {},
): DesiredPod {
  const made = aPod(pod, {name, uid: name, creationTimestamp: createdAt});
  return {uid: podUid(name), pod: made, origin: 'file.yaml'};
}

const late = '2026-05-01T13:00:00Z';

describe('what sources tell', () => {
  test('pods are added by their age', async () => {
    const {tell, done} = aHandler();
    await tell('ADD', wanted('b', late), wanted('a'));
    expect(done).toEqual(['create a', 'create b']);
  });

  test('a changed pod is updated, and so is one that is being deleted', async () => {
    const {tell, done} = aHandler();
    await tell('ADD', wanted('a'));
    await tell('UPDATE', wanted('a'));
    await tell('DELETE', wanted('a'));
    await tell('RECONCILE', wanted('a'));
    expect(done).toEqual(['create a', 'update a', 'update a']);
  });

  test('a pod that is gone is ended, but not before all sources have told what they have', async () => {
    const all = aHandler();
    await all.tell('REMOVE', wanted('a'));
    expect(all.done).toEqual(['kill a']);
    const some = aHandler({ready: false});
    await some.tell('REMOVE', wanted('a'));
    expect(some.done).toEqual([]);
  });
});

describe('a pod that the node has no room for', () => {
  test('is told of and shown as failed, and nothing else is ever done for it', async () => {
    const {tell, done, events, handler} = aHandler();
    const refused = wanted('c');
    await tell('ADD', wanted('a'), wanted('b'), refused);
    const message = "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2";
    expect(done).toEqual(['create a', 'create b']);
    expect(events).toMatchObject([{type: 'Warning', reason: 'OutOfpods', message}]);
    expect(handler.statusOf(refused)).toMatchObject({
      phase: 'Failed',
      reason: 'OutOfpods',
      message: `Pod was rejected: ${message}`,
    });

    done.length = 0;
    handler.handlePleg({uid: refused.uid, type: 'ContainerStarted'});
    handler.handleProbe({uid: refused.uid, id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
    await handler.handleHousekeeping();
    await tell('REMOVE', refused);
    expect(done).toEqual(['collect garbage']);
  });

  test('is judged anew when it is changed', async () => {
    const {tell, done} = aHandler();
    await tell('ADD', wanted('a'), wanted('b'), wanted('c'));
    await tell('REMOVE', wanted('a'));
    await tell('UPDATE', wanted('c'));
    expect(done).toEqual(['create a', 'create b', 'kill a', 'create c']);
  });

  test('runs without admission', async () => {
    const {tell, done} = aHandler({admission: false});
    await tell('ADD', wanted('a'), wanted('b'), wanted('c'));
    expect(done).toEqual(['create a', 'create b', 'create c']);
  });

  test('runs when another one has ended or when it is ending itself', async () => {
    const ended = aHandler({statuses: {a: {phase: 'Succeeded'}}});
    await ended.tell('ADD', wanted('a'), wanted('b'), wanted('c'));
    expect(ended.done).toContain('create c');
    const ending = aHandler({ending: ['c']});
    await ending.tell('ADD', wanted('a'), wanted('b'), wanted('c'));
    expect(ending.done).toContain('create c');
  });
});

describe('a critical pod for which there is no room', () => {
  const critical = wanted('c', undefined, {priority: 2_000_000_000});

  test('waits until another one has ended, which is told of', async () => {
    const {tell, done, events} = aHandler();
    await tell('ADD', wanted('a'), wanted('b'), critical);
    expect(done).toEqual(['create a', 'create b', 'kill b', 'create c']);
    const message = 'Preempted in order to admit critical pod';
    expect(events).toMatchObject([
      {type: 'Warning', reason: 'Preempting', message, pod: {metadata: {name: 'b'}}},
    ]);
  });

  test('waits no longer than half as long again as the other one may take', async () => {
    const clock = new ManualClock();
    const {tell, done, events} = aHandler({hangs: true}, clock);
    const told = tell(
      'ADD',
      wanted('a'),
      wanted('b', undefined, {terminationGracePeriodSeconds: 30}),
      critical,
    );
    await until(() => clock.sleeping > 0);
    expect(done).not.toContain('create c');
    await clock.advance(45_000);
    await told;
    expect(done).toEqual(['create a', 'create b', 'kill b', 'create c']);
    expect(events.map(({reason}) => reason)).toEqual(['Preempting', 'ExceededGracePeriod']);
  });
});

test('a pod that asks for devices that no node has here comes without them, which is told', async () => {
  const {tell, done, events} = aHandler();
  const gpu = {requests: {'example.com/gpu': '1'}, limits: {'example.com/gpu': '1'}};
  await tell('ADD', wanted('a', undefined, {containers: [aContainer({resources: gpu})]}));
  expect(done).toEqual(['create a']);
  expect(events).toMatchObject([{type: 'Warning', reason: 'UnknownResource'}]);
});

describe('what happens to containers', () => {
  test('has the pod synced, and dead ones removed', async () => {
    const {tell, done, handler} = aHandler();
    await tell('ADD', wanted('a'));
    handler.handlePleg({uid: podUid('a'), type: 'ContainerStarted'});
    handler.handlePleg({uid: podUid('a'), type: 'ContainerDied'});
    handler.handlePleg({uid: podUid('a'), type: 'ContainerRemoved'});
    expect(done).toEqual(['create a', 'sync a', 'sync a', 'remove dead of a']);
  });

  test('of a pod that nobody wants syncs nothing, but the dead are removed', async () => {
    const {done, handler} = aHandler();
    handler.handlePleg({uid: podUid('x'), type: 'ContainerStarted'});
    handler.handlePleg({uid: podUid('x'), type: 'ContainerDied'});
    expect(done).toEqual(['remove dead of x']);
  });

  test('by a probe is shown at once, and then the pod synced', async () => {
    const {tell, done, handler} = aHandler();
    await tell('ADD', wanted('a'));
    handler.handleProbe({uid: podUid('a'), id: containerId('c1'), probe: 'readiness', status: 'ready'});
    expect(done).toEqual(['create a', 'a: readiness ready', 'sync a']);
  });

  test('to objects has all volumes renewed and all pods synced', async () => {
    const {tell, done, handler} = aHandler();
    await tell('ADD', wanted('a'), wanted('b'));
    done.length = 0;
    handler.handleObjectsChanged();
    expect(done).toEqual(['renew volumes', 'sync a', 'sync b']);
  });
});

test('what it does is logged in a kubelet’s words, as loud as a kubelet’s', async () => {
  const {tell, handler, said, due} = aHandler();
  await tell('ADD', wanted('a'));
  await tell('RECONCILE', wanted('a'));
  handler.handlePleg({uid: podUid('a'), type: 'ContainerStarted'});
  handler.handlePleg({uid: podUid('x'), type: 'ContainerStarted'});
  handler.handleProbe({uid: podUid('a'), id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
  due.push(podUid('a'));
  handler.handleSync();
  await handler.handleHousekeeping();
  expect(said).toEqual([
    '2 SyncLoop ADD',
    '4 SyncLoop RECONCILE',
    '2 SyncLoop (PLEG): event for pod',
    '4 SyncLoop (PLEG): pod does not exist, ignore irrelevant event',
    '1 SyncLoop (probe)',
    '4 SyncLoop (SYNC) pods',
    '4 SyncLoop (housekeeping)',
  ]);
  const unready = aHandler({ready: false});
  await unready.handler.handleHousekeeping();
  expect(unready.said).toEqual(["4 SyncLoop (housekeeping, skipped): sources aren't ready yet"]);
});

describe('each second', () => {
  test('pods are synced whose time has come, or whose deadline has passed', async () => {
    const startTime = '2026-05-01T12:00:00Z';
    const {tell, done, due, clock, handler} = aHandler({statuses: {a: {startTime}}});
    await tell('ADD', wanted('a', undefined, {activeDeadlineSeconds: 30}), wanted('b'));
    done.length = 0;
    handler.handleSync();
    due.push(podUid('b'));
    handler.handleSync();
    clock.pass(30_000);
    handler.handleSync();
    expect(done).toEqual(['sync b', 'sync a']);
  });
});

describe('housekeeping', () => {
  test('does nothing before all sources have told what they have', async () => {
    const {done, handler} = aHandler({ready: false, owned: ['old'], running: ['old']});
    await handler.handleHousekeeping();
    expect(done).toEqual([]);
  });

  test('ends what runs of an earlier daemon and nobody wants, and removes what no longer runs', async () => {
    const {tell, done, handler} = aHandler({owned: ['old', 'dead', 'a'], running: ['old', 'a', 'foreign']});
    await tell('ADD', wanted('a'));
    done.length = 0;
    await handler.handleHousekeeping();
    expect(done).toEqual(['kill running old in 1 s', 'remove dead', 'collect garbage']);
  });

  test('begins anew with a wanted pod that no worker knows', async () => {
    const {tell, done, handler} = aHandler({ending: ['a']});
    await tell('RECONCILE', wanted('a', undefined, {containers: [aContainer()]}));
    await handler.handleHousekeeping();
    expect(done).toEqual(['create a', 'collect garbage']);
  });

  test('collects garbage each minute', async () => {
    const {done, clock, handler} = aHandler();
    for (let second = 0; second < 122; second += 2) {
      await handler.handleHousekeeping();
      clock.pass(2000);
    }
    expect(done).toEqual(['collect garbage', 'collect garbage', 'collect garbage']);
  });
});
