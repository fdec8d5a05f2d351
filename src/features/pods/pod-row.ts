import {MANAGER_ANNOTATION} from '../../api/manager-annotation.js';
import {longRunningContainersOf, sidecarsOf} from '../../api/pod-containers.js';
import type {Pod} from '../../api/types/v1-pod.js';
import {
  hasEnded,
  type ContainerStateTerminated,
  type ContainerStatus,
  type PodCondition,
  type PodStatus,
} from '../../api/types/v1-status.js';
import {formatAgeSince} from '../../format/age.js';

/** Row of a pod as kubectl prints it (printers.go printPod). */
export interface PodRow {
  readonly namespace: string;
  readonly name: string;
  /** Ready and total number of containers and sidecars: `1/2`. */
  readonly ready: string;
  readonly status: string;
  /** Restarts and time since the last one: `3 (5m ago)`. */
  readonly restarts: string;
  readonly age: string;
  /** `kcri`, `kubelet`, or `<none>` for a pod of crictl or another CRI client. */
  readonly manager: string;
  readonly ip: string;
  readonly node: string;
  readonly nominatedNode: string;
  readonly readinessGates: string;
  /** Labels as kubectl shows them: `app=web,tier=front`. */
  readonly labels: string;
}

const NONE = '<none>';

export function computePodRow(pod: Pod, nowMs: number): PodRow {
  const {metadata, status = {}} = pod;
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    ...stateCells(pod, status, nowMs),
    age: formatAgeSince(metadata.creationTimestamp, nowMs),
    manager: managerText(pod),
    ip: orNone(status.podIPs?.[0]?.ip),
    node: orNone(pod.spec.nodeName),
    nominatedNode: orNone(status.nominatedNodeName),
    readinessGates: readinessText(pod, status),
    labels: formatLabels(metadata.labels),
  };
}

/** Returns the manager of a pod, which pods of kcri do not name. */
export function managerText({metadata}: Pick<Pod, 'metadata'>): string {
  const manager = metadata.annotations?.[MANAGER_ANNOTATION] ?? 'kcri';
  return manager === 'none' ? NONE : manager;
}

/** Returns labels on one line, sorted, or `<none>`. */
function formatLabels(labels: Readonly<Record<string, string>> = {}): string {
  return orNone(
    Object.entries(labels)
      .map(([key, value]) => `${key}=${value}`)
      .toSorted()
      .join(','),
  );
}

function stateCells(
  pod: Pod,
  status: PodStatus,
  nowMs: number,
): Pick<PodRow, 'ready' | 'status' | 'restarts'> {
  const init = initTally(pod, status);
  const initialized = init.reason === undefined || isTrue(status.conditions, 'Initialized');
  const regular = initialized ? regularTally(status) : {ready: 0, reason: undefined};
  const restarted = initialized ? [...init.sidecars, ...(status.containerStatuses ?? [])] : init.all;
  const total = longRunningContainersOf(pod).length;
  return {
    ready: `${init.ready + regular.ready}/${total}`,
    status: endingReason(pod, status) ?? regular.reason ?? init.reason ?? podReason(status),
    restarts: restartsText(restarted, nowMs),
  };
}

function orNone(text: string | undefined): string {
  return text === undefined || text === '' ? NONE : text;
}

function podReason({phase, reason = '', conditions = []}: PodStatus): string {
  const gated = conditions.some((item) => item.type === 'PodScheduled' && item.reason === 'SchedulingGated');
  if (gated) return 'SchedulingGated';
  return reason === '' ? (phase ?? '') : reason;
}

/**
 * Returns `Unknown` for a pod that is being deleted on a lost node, or `Terminating` before it has ended; otherwise
 * undefined.
 */
function endingReason({metadata}: Pod, {phase, reason}: PodStatus): string | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  if (reason === 'NodeLost') return 'Unknown';
  return hasEnded(phase) ? undefined : 'Terminating';
}

/** Progress of the init containers. */
interface InitTally {
  readonly ready: number;
  /** Reason why the pod is not initialized; undefined if it is. */
  readonly reason: string | undefined;
  /** Statuses up to the init container that the pod waits for. */
  readonly all: readonly ContainerStatus[];
  readonly sidecars: readonly ContainerStatus[];
}

function initTally(pod: Pod, {initContainerStatuses = []}: PodStatus): InitTally {
  const inits = pod.spec.initContainers ?? [];
  const sidecars = sidecarsOf(pod);
  const isSidecar = ({name}: ContainerStatus): boolean =>
    sidecars.some((container) => container.name === name);
  const isDone = (status: ContainerStatus): boolean =>
    status.state?.terminated?.exitCode === 0 || (isSidecar(status) && status.started === true);
  const front = initContainerStatuses.findIndex((status) => !isDone(status));
  const seen = front < 0 ? initContainerStatuses : initContainerStatuses.slice(0, front + 1);
  const waited = front < 0 ? undefined : initContainerStatuses[front];
  return {
    ready: seen.filter((status) => isDone(status) && status.ready && isSidecar(status) && runs(status))
      .length,
    reason: waited && `Init:${initReason(waited) ?? `${front}/${inits.length}`}`,
    all: seen,
    sidecars: seen.filter(isSidecar),
  };
}

function runs({state}: ContainerStatus): boolean {
  return state?.terminated?.exitCode !== 0;
}

function initReason({state = {}}: ContainerStatus): string | undefined {
  if (state.terminated !== undefined) return endReason(state.terminated);
  const {reason = ''} = state.waiting ?? {};
  return reason === '' || reason === 'PodInitializing' ? undefined : reason;
}

function endReason({reason = '', signal = 0, exitCode}: ContainerStateTerminated): string {
  if (reason !== '') return reason;
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`;
}

/** Returns the reason of the first container that has one. */
function regularTally({containerStatuses = [], conditions, ...status}: PodStatus): {
  readonly ready: number;
  readonly reason: string | undefined;
} {
  const ready = containerStatuses.filter((item) => isReady(item)).length;
  const reason = containerStatuses.map(stateReason).find((text) => text !== undefined);
  if ((reason ?? podReason(status)) !== 'Completed') return {ready, reason};
  if (ready > 0 && isTrue(conditions, 'Ready')) return {ready, reason: 'Running'};
  const failed = containerStatuses.find(({state}) => (state?.terminated?.exitCode ?? 0) !== 0);
  return {ready, reason: (failed && stateReason(failed)) ?? (ready > 0 ? 'NotReady' : reason)};
}

function stateReason({state = {}}: ContainerStatus): string | undefined {
  const {reason = ''} = state.waiting ?? {};
  if (reason !== '') return reason;
  return state.terminated && endReason(state.terminated);
}

function isReady(status: ContainerStatus): boolean {
  return status.ready && status.state?.running !== undefined && stateReason(status) === undefined;
}

function isTrue(conditions: readonly PodCondition[] | undefined, type: string): boolean {
  return conditions?.some((item) => item.type === type && item.status === 'True') ?? false;
}

function restartsText(statuses: readonly ContainerStatus[], nowMs: number): string {
  const count = statuses.reduce((sum, {restartCount}) => sum + restartCount, 0);
  const ends = statuses.flatMap(({lastState}) => lastState?.terminated?.finishedAt ?? []);
  const last = ends.toSorted((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
  return count === 0 || last === undefined ? String(count) : `${count} (${formatAgeSince(last, nowMs)} ago)`;
}

function readinessText({spec}: Pod, {conditions}: PodStatus): string {
  const gates = spec.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  return `${gates.filter(({conditionType}) => isTrue(conditions, conditionType)).length}/${gates.length}`;
}
