import type {PodStatus} from '../../api/v1-status.js';
import type {NodeFacts} from '../container/node.js';
import {podQosClass} from '../kuberuntime/qos.js';
import {podConditions} from './conditions.js';
import {containerStatus, type ContainerStatusInput} from './container-status.js';
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
  const {pod, runtime, previous, node} = input;
  const now = new Date(Math.floor(input.now / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  const initStatuses = (pod.spec.initContainers ?? []).map((container) =>
    containerStatus(input, container, 'init'),
  );
  const statuses = pod.spec.containers.map((container) => containerStatus(input, container, 'regular'));
  const ended = previous?.phase === 'Succeeded' || previous?.phase === 'Failed' ? previous.phase : undefined;
  const phase = ended ?? podPhase(pod, initStatuses, statuses);
  const ips = pod.spec.hostNetwork === true ? node.nodeIps : runtime.ips;
  const podIps = ips.length > 0 ? ips.map((ip) => ({ip})) : (previous?.podIPs ?? []);
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
    ...(podIps[0] === undefined ? {} : {podIP: podIps[0].ip, podIPs: podIps}),
    startTime: previous?.startTime ?? now,
    ...(initStatuses.length === 0 ? {} : {initContainerStatuses: initStatuses}),
    containerStatuses: statuses.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    qosClass: podQosClass(pod),
  };
}
