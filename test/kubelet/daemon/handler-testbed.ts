import {BackgroundWork} from '../../../src/base/async/background-work.js';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {podUid, type PodUid} from '../../../src/cri/index.js';
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
import {NodeManagerSet} from '../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {PodManager} from '../../../src/kubelet/pods/registry/pod-manager.js';
import type {PodRecord} from '../../../src/kubelet/pods/registry/pod-store.js';
import {killPodNow} from '../../../src/kubelet/pods/workers/kill-pod-now.js';
import type {WorkerUpdate} from '../../../src/kubelet/pods/workers/worker-state.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {FakeClock, TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {aPod} from '../../fakes/a-pod.js';
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

export const {signal} = new AbortController();

/** Returns a handler whose workers and pods record what it requests of them. */
export function aHandler(
  state: NodeState = {},
  clock = new FakeClock({nowMs: TEST_TIME_MS, sleep: 'instant'}),
) {
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
    restoreMirror: () => undefined,
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
    nodeManagers: new NodeManagerSet([]),
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
export function desired(
  name: string,
  createdAt = '2026-05-01T12:00:00Z',
  pod: Partial<Pod['spec']> = {},
): DesiredPod {
  const made = aPod(pod, {name, uid: name, creationTimestamp: createdAt});
  return {uid: podUid(name), pod: made, origin: 'file.yaml'};
}
