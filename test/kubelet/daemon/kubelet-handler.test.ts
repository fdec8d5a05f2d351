import {describe, expect, test} from 'vitest';
import {BackgroundWork} from '../../../src/base/async/background-work.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {containerId, podUid, type PodUid} from '../../../src/cri/index.js';
import type {PodEvent} from '../../../src/kubelet/contract/pod-event.js';
import {AllocationManager} from '../../../src/kubelet/pods/allocation/allocation-manager.js';
import type {RunningPod} from '../../../src/kubelet/contract/pleg.js';
import type {ProbeUpdate} from '../../../src/kubelet/contract/probe-results.js';
import type {DesiredPod, PodOperation} from '../../../src/kubelet/contract/pod-update.js';
import {PodCleanups} from '../../../src/kubelet/daemon/handle-pod-cleanups.js';
import {PodErrorBoundary} from '../../../src/kubelet/daemon/pod-error-boundary.js';
import {KubeletHandler} from '../../../src/kubelet/daemon/kubelet-handler.js';
import {PodAdmission} from '../../../src/kubelet/pods/admission/pod-admission.js';
import {PeriodicContainerGc} from '../../../src/kubelet/pods/gc/periodic-container-gc.js';
import {PodManager} from '../../../src/kubelet/pods/registry/pod-manager.js';
import type {PodRecord} from '../../../src/kubelet/pods/registry/pod-store.js';
import {killPodNow} from '../../../src/kubelet/pods/workers/kill-pod-now.js';
import type {WorkerUpdate} from '../../../src/kubelet/pods/workers/worker-state.js';
import {until} from '../../base/until.js';
import {formatRfc3339Seconds} from '../../../src/format/time.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {aContainer, aPod} from '../../fakes/a-pod.js';
import {fakeLogger} from '../../base/fake-logger.js';

/** State of the node besides the desired pods. */
interface NodeState {
  readonly ready?: boolean;
  readonly admission?: boolean;
  /** Pods with a record of an earlier kubelet. */
  readonly managed?: readonly string[];
  readonly running?: readonly string[];
  readonly terminating?: readonly string[];
  readonly statuses?: Readonly<Record<string, PodStatus>>;
  /** Killed pods never stop. */
  readonly hangs?: boolean;
  /** Pods whose updates the workers cannot take. */
  readonly failing?: Set<string>;
  /** Removals of orphaned pods never end. */
  readonly removalHangs?: boolean;
}

const {signal} = new AbortController();

/** Returns a handler whose workers and pods record what it requests of them. */
function aHandler(state: NodeState = {}, clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'})) {
  const {
    ready = true,
    admission: admitsPods = true,
    managed = [],
    running = [],
    terminating = [],
    statuses = {},
    hangs = false,
    failing = new Set(),
    removalHangs = false,
  } = state;
  const done: string[] = [];
  const events: PodEvent[] = [];
  const known = new Set<string>();
  const due: PodUid[] = [];
  const nameOf = (update: WorkerUpdate): string =>
    'pod' in update ? (update.pod.metadata.name ?? '') : `running ${update.running.name}`;
  const logged: string[] = [];
  const logger = fakeLogger({
    info: (message, _fields, verbosity = 0) => void logged.push(`${verbosity} ${message}`),
    error: (_error, message) => void logged.push(`error ${message}`),
  });
  const manager = new PodManager();
  const workers = {
    update: (update: WorkerUpdate) => {
      if (failing.has(nameOf(update))) throw new Error('a bug');
      known.add('pod' in update ? (update.pod.metadata.uid ?? '') : update.running.uid);
      const grace = update.type === 'kill' ? update.kill?.gracePeriodSeconds : undefined;
      done.push(`${update.type} ${nameOf(update)}${grace === undefined ? '' : ` in ${grace} s`}`);
      if (update.type === 'kill' && !hangs) update.kill?.onCompleted?.();
    },
    takeDue: () => due.splice(0),
    syncKnownPods: () => undefined,
    isKnown: (uid: PodUid) => known.has(uid),
    isTerminationRequested: (uid: PodUid) => terminating.includes(uid),
    isTerminated: () => false,
    shouldContentBeRemoved: () => false,
    couldHaveRunningContainers: () => true,
  };
  const pods = {
    getStatus: (uid: PodUid) => statuses[uid],
    allRecords: () => managed.map((uid) => ({uid: podUid(uid)}) as PodRecord),
    removeOrphan: async (uid: PodUid) => {
      done.push(`remove ${uid}`);
      if (removalHangs) await new Promise(() => undefined);
      return true;
    },
    removeDeadContainers: async (uid: PodUid) => void done.push(`remove dead of ${uid}`),
    collectGarbage: async () => void done.push('collect garbage'),
    objectsChanged: () => void done.push('refresh volumes'),
    applyProbeUpdate: ({uid, probe, status}: ProbeUpdate) => void done.push(`${uid}: ${probe} ${status}`),
  };
  const pleg = {
    runningPods: (): RunningPod[] =>
      running.map((uid) => ({uid: podUid(uid), name: uid, namespace: 'default', isRunning: true})),
  };
  const sink = (event: PodEvent): void => void events.push(event);
  const allocations = new AllocationManager();
  const admission = new PodAdmission({
    node: {...GOLDEN_NODE, maxPods: 2},
    enabled: admitsPods,
    pressures: () => [],
    isManaged: (uid) => managed.includes(uid),
    allocations,
    killPod: (pod, kill, abort) => killPodNow({workers, clock, events: sink}, pod, kill, abort),
    ...{events: sink, clock, logger},
  });
  const background = new BackgroundWork((error) => {
    throw error;
  });
  const boundary = new PodErrorBoundary({events: sink, logger});
  const queued: string[] = [];
  const handler = new KubeletHandler({
    ...{manager, workers, pods, admission, allocations, clock, logger, boundary, background},
    requeue: (op, {uid}) => void queued.push(`${op} ${uid}`),
    onPodChanged: () => undefined,
    cleanups: new PodCleanups({
      ...{manager, workers, pods, pleg, boundary, background, clock},
      isRejected: (uid) => admission.isRejected(uid),
    }),
    containerGc: new PeriodicContainerGc({
      collector: pods,
      isUnwanted: () => false,
      isUnused: () => false,
      policy: undefined,
      clock,
    }),
    errors: () => [],
    evictions: {synchronize: async () => undefined},
    seenAllSources: () => ready,
  });
  const deliver = async (op: PodOperation, ...pods: readonly DesiredPod[]): Promise<void> => {
    await handler.handleConfig({op, source: 'file', pods}, signal);
  };
  return {handler, done, events, due, clock, deliver, logged, queued, boundary};
}

/** Returns a desired pod whose UID is its name. */
function desired(
  name: string,
  createdAt = '2026-05-01T12:00:00Z',
  pod: Partial<Pod['spec']> = {},
): DesiredPod {
  const made = aPod(pod, {name, uid: name, creationTimestamp: createdAt});
  return {uid: podUid(name), pod: made, origin: 'file.yaml'};
}

/** Returns the pod as one of a manifest. */
function fromManifest({pod, ...others}: DesiredPod): DesiredPod {
  const annotations = {'kubernetes.io/config.source': 'file'};
  return {...others, pod: {...pod, metadata: {...pod.metadata, annotations}}};
}

const late = '2026-05-01T13:00:00Z';

describe('pod updates of a source', () => {
  test('pods are added oldest first', async () => {
    const {deliver, done} = aHandler();
    await deliver('ADD', desired('b', late), desired('a'));
    expect(done).toEqual(['create a', 'create b']);
  });

  test('a changed pod is updated, and so is a pod with a deletion timestamp', async () => {
    const {deliver, done} = aHandler();
    await deliver('ADD', desired('a'));
    await deliver('UPDATE', desired('a'));
    await deliver('DELETE', desired('a'));
    await deliver('RECONCILE', desired('a'));
    expect(done).toEqual(['create a', 'update a', 'update a']);
  });

  test('a removed pod is killed, but not before all sources have delivered their pods', async () => {
    const all = aHandler();
    await all.deliver('REMOVE', desired('a'));
    expect(all.done).toEqual(['kill a']);
    const some = aHandler({ready: false});
    await some.deliver('REMOVE', desired('a'));
    expect(some.done).toEqual([]);
  });
});

describe('a pod that does not fit on the node', () => {
  test('is reported as Failed with an event and is never started', async () => {
    const {deliver, done, events, handler, clock} = aHandler();
    const rejected = desired('c');
    await deliver('ADD', desired('a'), desired('b'), rejected);
    const message = "Node didn't have enough resource: pods, requested: 1, used: 2, capacity: 2";
    expect(done).toEqual(['create a', 'create b']);
    expect(events).toMatchObject([{type: 'Warning', reason: 'OutOfpods', message}]);
    expect(handler.getStatus(rejected)).toEqual({
      phase: 'Failed',
      reason: 'OutOfpods',
      message: `Pod was rejected: ${message}`,
      startTime: formatRfc3339Seconds(clock.now()),
      qosClass: 'BestEffort',
    });

    done.length = 0;
    handler.handlePleg({uid: rejected.uid, type: 'ContainerStarted'});
    handler.handleProbe({uid: rejected.uid, id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
    handler.handleHousekeeping();
    await deliver('REMOVE', rejected);
    expect(done).toEqual(['collect garbage']);
  });

  test('keeps its start time when it changes and is rejected again', async () => {
    const {deliver, handler, clock} = aHandler();
    const startTime = formatRfc3339Seconds(clock.now());
    const elsewhere = fromManifest(desired('c', late, {nodeSelector: {zone: 'a'}}));
    await deliver('ADD', elsewhere);
    await clock.advance(60_000);
    await deliver('UPDATE', elsewhere);
    expect(handler.getStatus(elsewhere)).toMatchObject({reason: 'NodeAffinity', startTime});
  });

  test.each([
    ['is admitted again when its manifest changes', fromManifest, ['create c']],
    ['of the API server stays rejected when it changes', (pod: DesiredPod) => pod, []],
  ])('%s', async (_title, from, created) => {
    const {deliver, done} = aHandler();
    await deliver('ADD', desired('a'), desired('b'), desired('c'));
    await deliver('REMOVE', desired('a'));
    await deliver('UPDATE', from(desired('c')));
    expect(done).toEqual(['create a', 'create b', 'kill a', ...created]);
  });

  test('runs without admission', async () => {
    const {deliver, done} = aHandler({admission: false});
    await deliver('ADD', desired('a'), desired('b'), desired('c'));
    expect(done).toEqual(['create a', 'create b', 'create c']);
  });

  test('runs when another pod is terminal or when it is already terminating', async () => {
    const terminal = aHandler({statuses: {a: {phase: 'Succeeded'}}});
    await terminal.deliver('ADD', desired('a'), desired('b'), desired('c'));
    expect(terminal.done).toContain('create c');
    const terminating = aHandler({terminating: ['c']});
    await terminating.deliver('ADD', desired('a'), desired('b'), desired('c'));
    expect(terminating.done).toContain('create c');
  });
});

test('a pod that ended before the kubelet started is not admitted again, and its status remains', async () => {
  const {deliver, done, events, handler} = aHandler();
  const {pod, ...others} = desired('a', late, {nodeSelector: {zone: 'a'}});
  const ended = {...others, pod: {...pod, status: {phase: 'Succeeded', podIP: '10.0.0.1'} as const}};
  await deliver('ADD', ended);
  expect(done).toEqual(['create a']);
  expect(events).toEqual([]);
  expect(handler.getStatus(ended)).toEqual({phase: 'Succeeded', podIP: '10.0.0.1'});
});

describe('a critical pod that does not fit on the node', () => {
  const critical = desired('c', undefined, {priority: 2_000_000_000});

  test('preempts another pod, with an event, and starts once that pod has stopped', async () => {
    const {deliver, done, events} = aHandler();
    await deliver('ADD', desired('a'), desired('b'), critical);
    expect(done).toEqual(['create a', 'create b', 'kill b', 'create c']);
    const message = 'Preempted in order to admit critical pod';
    expect(events).toMatchObject([
      {type: 'Warning', reason: 'Preempting', message, pod: {metadata: {name: 'b'}}},
    ]);
  });

  test('starts after 1.5 times the grace period of a victim that does not stop', async () => {
    const clock = new FakeClock();
    const {deliver, done, events} = aHandler({hangs: true}, clock);
    const delivery = deliver(
      'ADD',
      desired('a'),
      desired('b', undefined, {terminationGracePeriodSeconds: 30}),
      critical,
    );
    await until(() => clock.sleeping > 0);
    expect(done).not.toContain('create c');
    await clock.advance(45_000);
    await delivery;
    expect(done).toEqual(['create a', 'create b', 'kill b', 'create c']);
    expect(events.map(({reason}) => reason)).toEqual(['Preempting', 'ExceededGracePeriod']);
  });
});

test('a pod that requests extended resources starts without them, with one warning unless it is of the API server', async () => {
  const {deliver, done, events} = aHandler();
  const gpu = {requests: {'example.com/gpu': '1'}, limits: {'example.com/gpu': '1'}};
  const pod = desired('a', undefined, {containers: [aContainer({resources: gpu})]});
  await deliver('ADD', fromManifest(pod));
  expect(done).toEqual(['create a']);
  expect(events).toMatchObject([{type: 'Warning', reason: 'UnknownResource'}]);
  const restarted = aHandler({managed: ['a']});
  await restarted.deliver('ADD', fromManifest(pod));
  expect(restarted.events).toEqual([]);
  const inCluster = aHandler();
  await inCluster.deliver('ADD', pod);
  expect(inCluster.events).toEqual([]);
});

describe('an event about a container', () => {
  test('syncs the pod, and removes dead containers', async () => {
    const {deliver, done, handler} = aHandler();
    await deliver('ADD', desired('a'));
    handler.handlePleg({uid: podUid('a'), type: 'ContainerStarted'});
    handler.handlePleg({uid: podUid('a'), type: 'ContainerDied'});
    handler.handlePleg({uid: podUid('a'), type: 'ContainerRemoved'});
    expect(done).toEqual(['create a', 'sync a', 'sync a', 'remove dead of a']);
  });

  test('of a pod that no source has syncs nothing, but removes dead containers', async () => {
    const {done, handler} = aHandler();
    handler.handlePleg({uid: podUid('x'), type: 'ContainerStarted'});
    handler.handlePleg({uid: podUid('x'), type: 'ContainerDied'});
    expect(done).toEqual(['remove dead of x']);
  });

  test('of a probe is applied to the status at once, and then the pod is synced', async () => {
    const {deliver, done, handler} = aHandler();
    await deliver('ADD', desired('a'));
    handler.handleProbe({uid: podUid('a'), id: containerId('c1'), probe: 'readiness', status: 'ready'});
    expect(done).toEqual(['create a', 'a: readiness ready', 'sync a']);
  });

  test('about changed API objects refreshes all volumes and syncs all pods', async () => {
    const {deliver, done, handler} = aHandler();
    await deliver('ADD', desired('a'), desired('b'));
    done.length = 0;
    handler.handleObjectsChanged();
    expect(done).toEqual(['refresh volumes', 'sync a', 'sync b']);
  });
});

test('log messages and verbosity equal the kubelet’s', async () => {
  const {deliver, handler, logged, due} = aHandler();
  await deliver('ADD', desired('a'));
  await deliver('RECONCILE', desired('a'));
  handler.handlePleg({uid: podUid('a'), type: 'ContainerStarted'});
  handler.handlePleg({uid: podUid('x'), type: 'ContainerStarted'});
  handler.handleProbe({uid: podUid('a'), id: containerId('c1'), probe: 'liveness', status: 'unhealthy'});
  due.push(podUid('a'));
  handler.handleSync();
  handler.handleHousekeeping();
  expect(logged).toEqual([
    '2 SyncLoop ADD',
    '4 SyncLoop RECONCILE',
    '2 SyncLoop (PLEG): event for pod',
    '4 SyncLoop (PLEG): pod does not exist, ignore irrelevant event',
    '1 SyncLoop (probe)',
    '4 SyncLoop (SYNC) pods',
    '4 SyncLoop (housekeeping)',
  ]);
  const unready = aHandler({ready: false});
  unready.handler.handleHousekeeping();
  expect(unready.logged).toEqual(["4 SyncLoop (housekeeping, skipped): sources aren't ready yet"]);
});

describe('handleSync', () => {
  test('syncs pods that are due or past their active deadline', async () => {
    const startTime = '2026-05-01T12:00:00Z';
    const {deliver, done, due, clock, handler} = aHandler({statuses: {a: {startTime}}});
    await deliver('ADD', desired('a', undefined, {activeDeadlineSeconds: 30}), desired('b'));
    done.length = 0;
    handler.handleSync();
    due.push(podUid('b'));
    handler.handleSync();
    clock.elapse(30_000);
    handler.handleSync();
    expect(done).toEqual(['sync b', 'sync a']);
  });
});

describe('housekeeping', () => {
  test('does nothing before all sources have delivered their pods', async () => {
    const {done, handler} = aHandler({ready: false, managed: ['old'], running: ['old']});
    handler.handleHousekeeping();
    expect(done).toEqual([]);
  });

  test('kills running orphaned pods and removes the others', async () => {
    const {deliver, done, handler} = aHandler({
      managed: ['old', 'dead', 'a'],
      running: ['old', 'a', 'foreign'],
    });
    await deliver('ADD', desired('a'));
    done.length = 0;
    handler.handleHousekeeping();
    expect(done).toEqual(['kill running old in 1 s', 'remove dead', 'collect garbage']);
  });

  test('starts a desired pod that has no worker', async () => {
    const {deliver, done, handler} = aHandler({terminating: ['a']});
    await deliver('RECONCILE', desired('a', undefined, {containers: [aContainer()]}));
    handler.handleHousekeeping();
    expect(done).toEqual(['create a', 'collect garbage']);
  });

  test('runs container GC once a minute', async () => {
    const {done, clock, handler} = aHandler();
    for (let second = 0; second < 122; second += 2) {
      handler.handleHousekeeping();
      await new Promise((resolve) => setImmediate(resolve)); // the collection ends
      clock.elapse(2000);
    }
    expect(done).toEqual(['collect garbage', 'collect garbage', 'collect garbage']);
  });
});

describe('an error in the handling of one pod', () => {
  test('leaves the other pods and the loop alone, and is logged, reported and repeated', async () => {
    const failing = new Set(['a']);
    const {deliver, handler, done, events, logged, queued} = aHandler({failing});
    await deliver('ADD', desired('a'), desired('b'));
    expect(done).toEqual(['create b']);
    expect(events).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedSync',
        message: 'error handling pod: a bug',
        pod: {metadata: {name: 'a'}},
      },
    ]);
    expect(logged).toContain('error Failed to handle pod, will try again');
    handler.handleHousekeeping();
    expect(queued).toEqual(['ADD a']);
    failing.clear();
    await deliver('ADD', desired('a'));
    handler.handleHousekeeping();
    expect(done).toContain('create a');
    expect(queued).toEqual(['ADD a']);
  });

  test('keeps a pod that could not be added from being started without admission', async () => {
    const failing = new Set(['a']);
    const {deliver, handler, done, due, queued} = aHandler({failing});
    await deliver('ADD', desired('a'));
    failing.clear();
    due.push(podUid('a'));
    handler.handleSync();
    handler.handleHousekeeping();
    expect(done).toEqual(['collect garbage']);
    await deliver('UPDATE', desired('a'));
    expect(done).toContain('create a');
    handler.handleHousekeeping();
    expect(queued).toEqual(['ADD a']);
  });

  test('in a sync repeats the sync', async () => {
    const failing = new Set<string>();
    const {deliver, handler, done, due} = aHandler({failing});
    await deliver('ADD', desired('a'), desired('b'));
    failing.add('a');
    due.push(podUid('a'), podUid('b'));
    handler.handleSync();
    expect(done).toEqual(['create a', 'create b', 'sync b']);
    failing.clear();
    handler.handleHousekeeping();
    expect(done).toContain('sync a');
  });

  test('is forgotten when the source has removed the pod', async () => {
    const failing = new Set(['a']);
    const {deliver, handler, queued} = aHandler({failing});
    await deliver('ADD', desired('a'));
    failing.clear();
    await deliver('REMOVE', desired('a'));
    handler.handleHousekeeping();
    expect(queued).toEqual([]);
  });
});

test('housekeeping does not wait for removals, and does not start one twice', async () => {
  const {handler, done} = aHandler({managed: ['dead'], removalHangs: true});
  handler.handleHousekeeping();
  handler.handleHousekeeping();
  await until(() => done.includes('remove dead'));
  expect(done).toEqual(['remove dead', 'collect garbage']);
});
