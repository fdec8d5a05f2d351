import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {
  hasEnded,
  type ContainerStatus,
  type PodCondition,
  type PodStatus,
  type ResourceStatus,
} from '../../../../api/types/v1-status.js';
import {hasApiServer, isStaticPod} from '../../../sources/static-pod.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import {shouldRestartAllContainers} from '../../../managers/kuberuntime/compute/restart-all-containers.js';
import {computePodIps} from '../../../managers/kuberuntime/config/pod-addresses.js';
import {computePodQosClass} from '../../../resources/qos-class.js';
import {sortPodIps} from '../../../managers/network/sort-pod-ips.js';
import {computePodConditions, observedGenerationOf} from './pod-conditions.js';
import {computeContainerStatus, formatMs, type ContainerStatusInput} from './container-status.js';
import {DEADLINE_EXCEEDED, isDeadlineExceeded} from './active-deadline.js';
import {computePodPhase} from './pod-phase.js';
import {computePodResources} from './pod-resources.js';

/** Input of computePodStatus. */
export interface PodStatusInput extends Omit<ContainerStatusInput, 'restartsAll'> {
  readonly node: Pick<NodeFacts, 'nodeIps' | 'hostIps' | 'inCluster'> &
    Partial<Pick<NodeFacts, 'cgroup' | 'cgroupMount'>> &
    ContainerStatusInput['node'];
  /** Current time, in ms since the epoch. */
  readonly now: number;
  /** True if the pod was stopped for good, so that no container starts again. */
  readonly isTerminal?: boolean;
  readonly resize?: readonly PodCondition[];
  /** Why the pod waits as if it was not scheduled; undefined if it does not. */
  readonly unschedulable?: string | undefined;
  /** Returns the health of the devices of a container; by default it has none. */
  readonly resourcesOf?: (container: Container) => readonly ResourceStatus[];
  /** True if a pod past its deadline becomes Failed. */
  readonly enforcesDeadline?: boolean;
}

/**
 * Returns the pod's API status (kubelet generateAPIPodStatus): a pure function of the runtime status and the previous
 * status. A terminal phase never changes.
 */
export function computePodStatus(input: PodStatusInput): PodStatus {
  const {pod, runtime, previous} = input;
  const restartsAll = shouldRestartAllContainers(pod, runtime, previous);
  const facts = {...input, restartsAll};
  const now = formatMs(input.now);
  const initStatuses = (pod.spec.initContainers ?? []).map((container) =>
    computeContainerStatus(facts, container, 'init'),
  );
  const statuses = pod.spec.containers.map((container) => ({
    ...computeContainerStatus(facts, container, 'regular'),
    ...resourceStatus(input.resourcesOf?.(container)),
  }));
  const before = terminalStatusOf(previous);
  const isOver = input.enforcesDeadline === true && isDeadlineExceeded(pod, previous, input.now);
  const ended = before.phase === undefined && isOver ? DEADLINE_EXCEEDED : before;
  const phase =
    ended.phase ??
    computePodPhase({
      pod,
      initStatuses,
      statuses,
      hasInitialized: hasActiveContainer(pod, runtime),
      isTerminal: input.isTerminal === true && !isStaticPod(pod),
    });
  return {
    ...observedGenerationOf(pod),
    phase,
    conditions: computePodConditions({
      pod,
      runtime,
      phase,
      initStatuses,
      statuses,
      previous: previous?.conditions ?? [],
      restartsAll,
      resize: input.resize,
      unschedulable: input.unschedulable,
      now,
    }),
    ...ended,
    ...hostAddresses(input),
    ...addresses(input),
    startTime: previous?.startTime ?? now,
    ...(initStatuses.length > 0 && {initContainerStatuses: initStatuses}),
    containerStatuses: byName(statuses),
    ...ephemeralStatuses(facts),
    qosClass: computePodQosClass(pod),
    ...computePodResources(input),
  };
}

/** Returns the health of devices; as in a kubelet, only regular containers show it (UpdateAllocatedResourcesStatus). */
function resourceStatus(
  devices: readonly ResourceStatus[] = [],
): Pick<ContainerStatus, 'allocatedResourcesStatus'> {
  return devices.length === 0 ? {} : {allocatedResourcesStatus: devices};
}

function ephemeralStatuses(facts: ContainerStatusInput): Pick<PodStatus, 'ephemeralContainerStatuses'> {
  const {ephemeralContainers = []} = facts.pod.spec;
  if (ephemeralContainers.length === 0) return {};
  const statuses = ephemeralContainers.map((container) =>
    computeContainerStatus(facts, container, 'ephemeral'),
  );
  return {ephemeralContainerStatuses: byName(statuses)};
}

function byName(statuses: readonly ContainerStatus[]): readonly ContainerStatus[] {
  return statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the terminal phase of a pod with its reason and message; an empty object for a pod that has not ended. */
export function terminalStatusOf({phase, reason, message}: PodStatus = {}): Pick<
  PodStatus,
  'phase' | 'reason' | 'message'
> {
  if (!hasEnded(phase)) return {};
  return {phase, ...(reason !== undefined && {reason}), ...(message !== undefined && {message})};
}

/**
 * Reports whether a regular container exists in the newest sandbox and that sandbox is ready
 * (HasAnyActiveRegularContainerStarted).
 */
function hasActiveContainer({spec}: Pod, {sandboxes, containers}: RuntimePodStatus): boolean {
  const [sandbox] = sandboxes;
  if (sandbox?.state !== 'SANDBOX_READY') return false;
  const names = new Set(spec.containers.map(({name}) => name));
  return containers.some(({name, sandboxId}) => sandboxId === sandbox.id && names.has(name));
}

/** Returns the host IPs; none for a static pod without an API server: the kubelet does not know them then. */
function hostAddresses({pod, node}: PodStatusInput): Pick<PodStatus, 'hostIP' | 'hostIPs'> {
  const hostIps = node.hostIps.current;
  const [hostIP] = hostIps;
  return hostIP === undefined || !hasApiServer(pod, node)
    ? {}
    : {hostIP, hostIPs: hostIps.map((ip) => ({ip}))};
}

/**
 * Returns the IPs of the sandbox or, in the host network, of the node; those of the previous status without a sandbox
 * (getPodIPs).
 */
function addresses({pod, runtime, node, previous}: PodStatusInput): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const ips = sortPodIps(computePodIps(pod, runtime.ips, node), node.nodeIps);
  const hasSandbox = runtime.sandboxes.some(({state}) => state === 'SANDBOX_READY');
  const previousIps = hasSandbox ? [] : (previous?.podIPs ?? []);
  const podIPs = ips.length > 0 ? ips.map((ip) => ({ip})) : previousIps;
  return podIPs[0] === undefined ? {} : {podIP: podIPs[0].ip, podIPs};
}
