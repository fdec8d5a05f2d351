import {
  podUid,
  type Container,
  type ContainerState,
  type PodSandbox,
  type PodSandboxState,
  type PodUid,
} from '../../../cri/index.js';
import type {PodLifecycleEvent, PodLifecycleEventType, RunningPod} from '../../contract/pleg.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {POD_NAME_LABEL, POD_NAMESPACE_LABEL, POD_UID_LABEL} from '../kuberuntime/config/labels.js';

/** State of a container or sandbox that the PLEG compares (plegContainerState); undefined means non-existent. */
export type PlegState = 'running' | 'exited' | 'unknown';

/** States of a pod's containers and sandboxes by ID, containers first, since their events come first. */
export type PodStates = ReadonlyMap<string, PlegState>;

/** Pod in the runtime's lists. */
export interface ListedPod extends RunningPod {
  readonly states: PodStates;
}

const CONTAINER_STATES = {
  // The kubelet does not use this state either (convertState).
  CONTAINER_CREATED: 'unknown',
  CONTAINER_RUNNING: 'running',
  CONTAINER_EXITED: 'exited',
  CONTAINER_UNKNOWN: 'unknown',
} as const satisfies Record<ContainerState, PlegState>;

const SANDBOX_STATES = {
  SANDBOX_READY: 'running',
  SANDBOX_NOTREADY: 'exited',
} as const satisfies Record<PodSandboxState, PlegState>;

/** Events for a new state. An unknown state has none, because workers ignore ContainerChanged. */
const EVENTS = {
  running: ['ContainerStarted'],
  exited: ['ContainerDied'],
  unknown: [],
} as const satisfies Record<PlegState, readonly PodLifecycleEventType[]>;

/** Events for a removed container or sandbox; if it had exited, ContainerDied was sent before (generateEvents). */
const REMOVAL_EVENTS = {
  running: ['ContainerDied', 'ContainerRemoved'],
  exited: ['ContainerRemoved'],
  unknown: ['ContainerDied', 'ContainerRemoved'],
} as const satisfies Record<PlegState, readonly PodLifecycleEventType[]>;

/** Returns the events for the changes of a pod between two inspections (pleg computeEvents). */
export function computeLifecycleEvents(
  uid: PodUid,
  before: PodStates,
  after: PodStates,
): PodLifecycleEvent[] {
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
  if (after !== undefined) return EVENTS[after];
  return before === undefined ? [] : REMOVAL_EVENTS[before];
}

/** Reports whether both pods have the same containers and sandboxes in the same states. */
export function hasSameStates(before: PodStates, after: PodStates): boolean {
  return before.size === after.size && [...before].every(([id, state]) => after.get(id) === state);
}

/** Returns the states in a pod's status. */
export function statesOf({containers, sandboxes}: RuntimePodStatus): PodStates {
  const states = new Map<string, PlegState>();
  for (const {id, state} of containers) states.set(id, CONTAINER_STATES[state]);
  for (const {id, state} of sandboxes) states.set(id, SANDBOX_STATES[state]);
  return states;
}

/**
 * Groups the runtime's containers and sandboxes by pod (kuberuntime GetPods). A container belongs to the pod in its
 * label; without a label, as with other clients, to the pod of its sandbox.
 */
export function groupByPod(
  containers: readonly Container[],
  sandboxes: readonly PodSandbox[],
): Map<PodUid, ListedPod> {
  const uids = new Map(sandboxes.map((sandbox) => [sandbox.id, podUidOfSandbox(sandbox)]));
  const pods = new Map<PodUid, PodGroup>();
  for (const {id, labels, podSandboxId, state} of containers) {
    const label = labels[POD_UID_LABEL];
    const uid = label === undefined ? uids.get(podSandboxId) : podUid(label);
    // The pod of a container without label and sandbox is unknown.
    if (uid !== undefined) add(getOrAddGroup(pods, uid, namesIn(labels)), id, CONTAINER_STATES[state]);
  }
  for (const sandbox of sandboxes) {
    const pod = getOrAddGroup(pods, podUidOfSandbox(sandbox), sandbox.metadata);
    add(pod, sandbox.id, SANDBOX_STATES[sandbox.state]);
  }
  return pods;
}

type Names = Pick<RunningPod, 'name' | 'namespace'>;

interface PodGroup {
  readonly uid: PodUid;
  name: string;
  namespace: string;
  isRunning: boolean;
  readonly states: Map<string, PlegState>;
}

function getOrAddGroup(pods: Map<PodUid, PodGroup>, uid: PodUid, names: Names | undefined): PodGroup {
  const pod = pods.get(uid) ?? {uid, name: '', namespace: '', isRunning: false, states: new Map()};
  pod.name ||= names?.name ?? '';
  pod.namespace ||= names?.namespace ?? '';
  pods.set(uid, pod);
  return pod;
}

function add(pod: PodGroup, id: string, state: PlegState): void {
  pod.states.set(id, state);
  pod.isRunning ||= state === 'running';
}

/** Returns the name and namespace of the pod from a container's labels. */
function namesIn(labels: Readonly<Record<string, string>>): Names {
  return {name: labels[POD_NAME_LABEL] ?? '', namespace: labels[POD_NAMESPACE_LABEL] ?? ''};
}

/** Adds the name from the sandbox or labels to the status of a pod that was inspected before it was listed. */
export function withPodName(status: RuntimePodStatus): RuntimePodStatus {
  if (status.name !== '') return status;
  const [sandbox] = status.sandboxes;
  const {name, namespace} = sandbox?.metadata ?? namesIn(status.containers[0]?.cri.labels ?? {});
  return {...status, name, namespace};
}

/** Returns the UID of a sandbox's pod from its label, or else from its metadata. */
export function podUidOfSandbox({labels, metadata}: Pick<PodSandbox, 'labels' | 'metadata'>): PodUid {
  return podUid(labels[POD_UID_LABEL] ?? metadata?.uid ?? '');
}
