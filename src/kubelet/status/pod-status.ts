import type {Pod} from '../../api/v1.js';
import {hasEnded, type PodStatus} from '../../api/v1-status.js';
import {isStaticPod} from '../config/static-pod.js';
import type {NodeFacts} from '../container/node.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import {shouldRestartAllContainers} from '../kuberuntime/compute-restart-all.js';
import {podAddresses} from '../kuberuntime/pod-addresses.js';
import {podQosClass} from '../kuberuntime/qos.js';
import {podLimits, podRequests} from '../kuberuntime/resource-amounts.js';
import {sortPodIps} from '../network/pod-ips.js';
import {podConditions, type ResizeConditions} from './conditions.js';
import {containerStatus, timeOfMs, type ContainerStatusInput} from './container-status.js';
import {DEADLINE_EXCEEDED, deadlineExceeded} from './deadline.js';
import {podPhase} from './pod-phase.js';

/** What a pod's status is made of. */
export interface PodStatusInput extends Omit<ContainerStatusInput, 'restartsAll'> {
  readonly node: Pick<NodeFacts, 'nodeIps'> & ContainerStatusInput['node'];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** All of the pod was stopped for good, so that nothing of it will be started again. */
  readonly isTerminal?: boolean;
  readonly resize?: ResizeConditions;
  /** A pod that is past its deadline has failed. */
  readonly keepsDeadline?: boolean;
}

/**
 * The pod's status as the API shows it (kubelet generateAPIPodStatus): a pure function of what runs and of the status
 * before. A phase that has ended never comes back.
 */
export function podStatus(input: PodStatusInput): PodStatus {
  const {pod, runtime, previous} = input;
  const restartsAll = shouldRestartAllContainers(pod, runtime, previous);
  const facts = {...input, restartsAll};
  const now = timeOfMs(input.now);
  const initStatuses = (pod.spec.initContainers ?? []).map((container) =>
    containerStatus(facts, container, 'init'),
  );
  const statuses = pod.spec.containers.map((container) => containerStatus(facts, container, 'regular'));
  const before = endOf(previous);
  const isOver = input.keepsDeadline === true && deadlineExceeded(pod, previous, input.now);
  const ended = before.phase === undefined && isOver ? DEADLINE_EXCEEDED : before;
  const phase =
    ended.phase ??
    podPhase({
      pod,
      initStatuses,
      statuses,
      hasInitialized: hasActiveContainer(pod, runtime),
      isTerminal: input.isTerminal === true && !isStaticPod(pod),
    });
  return {
    phase,
    conditions: podConditions({
      pod,
      runtime,
      phase,
      initStatuses,
      statuses,
      previous: previous?.conditions ?? [],
      restartsAll,
      resize: input.resize,
      now,
    }),
    ...ended,
    ...hostAddresses(input),
    ...addresses(input),
    startTime: previous?.startTime ?? now,
    ...(initStatuses.length > 0 && {initContainerStatuses: initStatuses}),
    containerStatuses: statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    qosClass: podQosClass(pod),
    ...resources(pod),
  };
}

/** What stays of a pod that has ended: how, and why a kubelet ended it. Nothing of any other. */
export function endOf({phase, reason, message}: PodStatus = {}): Pick<
  PodStatus,
  'phase' | 'reason' | 'message'
> {
  if (!hasEnded(phase)) return {};
  return {phase, ...(reason !== undefined && {reason}), ...(message !== undefined && {message})};
}

/** Whether a regular container exists in the newest sandbox, and that one is ready (HasAnyActiveRegularContainerStarted). */
function hasActiveContainer({spec}: Pod, {sandboxes, containers}: RuntimePodStatus): boolean {
  const [sandbox] = sandboxes;
  if (sandbox?.state !== 'SANDBOX_READY') return false;
  const names = new Set(spec.containers.map(({name}) => name));
  return containers.some(({name, sandboxId}) => sandboxId === sandbox.id && names.has(name));
}

/** A static pod shows none: without an API server the kubelet doesn't know them. */
function hostAddresses({pod, node}: PodStatusInput): Pick<PodStatus, 'hostIP' | 'hostIPs'> {
  const [hostIP] = node.nodeIps;
  return hostIP === undefined || isStaticPod(pod) ? {} : {hostIP, hostIPs: node.nodeIps.map((ip) => ({ip}))};
}

/** Those of the sandbox or, in the host's network, of the node; a pod without a sandbox keeps what it had (getPodIPs). */
function addresses({pod, runtime, node, previous}: PodStatusInput): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const ips = sortPodIps(podAddresses(pod, runtime.ips, node), node.nodeIps);
  const hasSandbox = runtime.sandboxes.some(({state}) => state === 'SANDBOX_READY');
  const kept = hasSandbox ? [] : (previous?.podIPs ?? []);
  const podIPs = ips.length > 0 ? ips.map((ip) => ({ip})) : kept;
  return podIPs[0] === undefined ? {} : {podIP: podIPs[0].ip, podIPs};
}

/** What the pod needs as a whole, with overhead, and what it was granted: here always what it requests. */
function resources(pod: Pod): Pick<PodStatus, 'resources' | 'allocatedResources'> {
  const [requests, limits] = [podRequests(pod), podLimits(pod)];
  const asked = Object.keys(requests).length > 0;
  return {
    resources: {...(asked && {requests}), ...(Object.keys(limits).length > 0 && {limits})},
    ...(asked && {allocatedResources: requests}),
  };
}
