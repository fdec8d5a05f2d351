import type {PodPhase, PodStatus} from '../../api/v1-status.js';
import type {NodeFacts} from '../container/node.js';
import {podAddresses} from '../kuberuntime/pod-addresses.js';
import {podQosClass} from '../kuberuntime/qos.js';
import {podConditions} from './conditions.js';
import {containerStatus, timeOf, type ContainerStatusInput} from './container-status.js';
import {podPhase} from './pod-phase.js';

/** What a pod's status is made of. */
export interface PodStatusInput extends ContainerStatusInput {
  /** The status before, whose transition times, start time and addresses are kept. */
  readonly previous: PodStatus | undefined;
  readonly node: Pick<NodeFacts, 'nodeIps'>;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * The pod's status as the API shows it (kubelet generateAPIPodStatus): a pure function of what runs. A phase
 * that has ended never comes back.
 */
export function podStatus(input: PodStatusInput): PodStatus {
  const {pod, runtime, previous} = input;
  const now = timeOf(BigInt(Math.floor(input.now)) * 1_000_000n);
  const initStatuses = (pod.spec.initContainers ?? []).map((container) =>
    containerStatus(input, container, 'init'),
  );
  const statuses = pod.spec.containers.map((container) => containerStatus(input, container, 'regular'));
  const phase = endedPhase(previous) ?? podPhase(pod, initStatuses, statuses);
  return {
    phase,
    conditions: podConditions({
      pod,
      runtime,
      phase,
      initStatuses,
      statuses,
      previous: previous?.conditions ?? [],
      now,
    }),
    ...addresses(input),
    startTime: previous?.startTime ?? now,
    ...(initStatuses.length === 0 ? {} : {initContainerStatuses: initStatuses}),
    containerStatuses: statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    qosClass: podQosClass(pod),
  };
}

function endedPhase(previous: PodStatus | undefined): PodPhase | undefined {
  return previous?.phase === 'Succeeded' || previous?.phase === 'Failed' ? previous.phase : undefined;
}

/** Those of the sandbox or, in the host's network, of the node; a pod that has ended keeps what it had. */
function addresses({pod, runtime, node, previous}: PodStatusInput): Pick<PodStatus, 'podIP' | 'podIPs'> {
  const ips = podAddresses(pod, runtime.ips, node);
  const podIPs = ips.length > 0 ? ips.map((ip) => ({ip})) : (previous?.podIPs ?? []);
  return podIPs[0] === undefined ? {} : {podIP: podIPs[0].ip, podIPs};
}
