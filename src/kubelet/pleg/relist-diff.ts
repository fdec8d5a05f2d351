import {
  podUid,
  type Container,
  type ContainerState,
  type PodSandbox,
  type PodSandboxState,
  type PodUid,
} from '../../cri/index.js';
import type {PodLifecycleEvent, PodLifecycleEventType, RunningPod} from '../container/pleg.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import {POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL} from '../kuberuntime/labels.js';

/** A state as the PLEG compares it (plegContainerState); what doesn't exist has none. */
export type PlegState = 'running' | 'exited' | 'unknown';

/** The containers and sandboxes of one pod by id: containers first, as their events come first. */
export type PodStates = ReadonlyMap<string, PlegState>;

/** A pod in the runtime's lists. */
export interface ListedPod extends RunningPod {
  readonly states: PodStates;
}

const CONTAINER_STATES = {
  // A kubelet doesn't use this state yet (convertState).
  CONTAINER_CREATED: 'unknown',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
} as const satisfies Record<ContainerState, PlegState>;

const SANDBOX_STATES = {
  SANDBOX_READY: 'running',
  SANDBOX_NOTREADY: 'exited',
} as const satisfies Record<PodSandboxState, PlegState>;

/** What is told of a container or sandbox that has come into a state: nothing of one that isn't known (ContainerChanged). */
const TOLD = {
  running: ['ContainerStarted'],
  exited: ['ContainerDied'],
  unknown: [],
} as const satisfies Record<PlegState, readonly PodLifecycleEventType[]>;

/** What is told of one that is gone; of one that had exited its death has been told (generateEvents). */
const TOLD_WHEN_GONE = {
  running: ['ContainerDied', 'ContainerRemoved'],
  exited: ['ContainerRemoved'],
  unknown: ['ContainerDied', 'ContainerRemoved'],
} as const satisfies Record<PlegState, readonly PodLifecycleEventType[]>;

/** What has happened to a pod between two looks at it (pleg computeEvents). */
export function lifecycleEvents(uid: PodUid, before: PodStates, after: PodStates): PodLifecycleEvent[] {
  const events: PodLifecycleEvent[] = [];
  for (const id of new Set([...before.keys(), ...after.keys()]))
    for (const type of typesOf(before.get(id), after.get(id))) events.push({uid, type, id});
  return events;
}

function typesOf(
  before: PlegState | undefined,
  after: PlegState | undefined,
): readonly PodLifecycleEventType[] {
  if (before === after) return [];
  if (after !== undefined) return TOLD[after];
  return before === undefined ? [] : TOLD_WHEN_GONE[before];
}

/** Whether a pod is as it was. */
export function sameStates(before: PodStates, after: PodStates): boolean {
  return before.size === after.size && [...before].every(([id, state]) => after.get(id) === state);
}

/** The states in a pod's status. */
export function statesOf({containers, sandboxes}: RuntimePodStatus): PodStates {
  const states = new Map<string, PlegState>();
  for (const {id, state} of containers) states.set(id, CONTAINER_STATES[state]);
  for (const {id, state} of sandboxes) states.set(id, SANDBOX_STATES[state]);
  return states;
}

/**
 * The pods that the runtime's lists are of (kuberuntime GetPods). A container belongs to the pod that its label
 * says, and without one, as other clients make them, to its sandbox's.
 */
export function listedPods(
  containers: readonly Container[],
  sandboxes: readonly PodSandbox[],
): Map<PodUid, ListedPod> {
  const uids = new Map(sandboxes.map((sandbox) => [sandbox.id, uidOf(sandbox)]));
  const pods = new Map<PodUid, GatheredPod>();
  for (const {id, labels, podSandboxId, state} of containers) {
    const label = labels[POD_UID_LABEL];
    const uid = label === undefined ? uids.get(podSandboxId) : podUid(label);
    // Whose it is that has no label and no sandbox any more nobody knows.
    if (uid !== undefined) add(podOf(pods, uid, namesIn(labels)), id, CONTAINER_STATES[state]);
  }
  for (const sandbox of sandboxes) {
    const pod = podOf(pods, uidOf(sandbox), sandbox.metadata);
    add(pod, sandbox.id, SANDBOX_STATES[sandbox.state]);
  }
  return pods;
}

type Names = Pick<RunningPod, 'name' | 'namespace'>;

interface GatheredPod {
  readonly uid: PodUid;
  name: string;
  namespace: string;
  isRunning: boolean;
  readonly states: Map<string, PlegState>;
}

function podOf(pods: Map<PodUid, GatheredPod>, uid: PodUid, names: Names | undefined): GatheredPod {
  const pod = pods.get(uid) ?? {uid, name: '', namespace: '', isRunning: false, states: new Map()};
  pod.name ||= names?.name ?? '';
  pod.namespace ||= names?.namespace ?? '';
  pods.set(uid, pod);
  return pod;
}

function add(pod: GatheredPod, id: string, state: PlegState): void {
  pod.states.set(id, state);
  pod.isRunning ||= state === 'running';
}

/** What the labels of a container that kcri made say of its pod. */
function namesIn(labels: Readonly<Record<string, string>>): Names {
  return {name: labels[POD_NAME_LABEL] ?? '', namespace: labels[POD_NAMESPACE_LABEL] ?? ''};
}

/** The status with the pod's name from what was found of it, for one that was looked at before it was listed. */
export function named(status: RuntimePodStatus): RuntimePodStatus {
  if (status.name !== '') return status;
  const [sandbox] = status.sandboxes;
  const {name, namespace} = sandbox?.metadata ?? namesIn(status.containers[0]?.cri.labels ?? {});
  return {...status, name, namespace};
}

/** The pod that a sandbox is of: as kcri's labels say, else as its maker calls it. */
export function uidOf({labels, metadata}: Pick<PodSandbox, 'labels' | 'metadata'>): PodUid {
  return podUid(labels[POD_UID_LABEL] ?? metadata?.uid ?? '');
}
