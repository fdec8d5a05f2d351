import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import {podRef} from '../../contract/pod-ref.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {observedGenerationOf} from '../status/compute/pod-conditions.js';
import {computePodStatus} from '../status/compute/pod-status.js';

/** Returns the status of a pod that the node does not admit (kubelet.go rejectPod); `startTime` is RFC 3339. */
export function computeRejectedStatus(
  pod: Pod,
  {reason, message}: Pick<Rejection, 'reason' | 'message'>,
  startTime: string,
): PodStatus {
  return {
    phase: 'Failed',
    reason,
    message: `Pod was rejected: ${message}`,
    startTime,
    qosClass: computePodQosClass(pod),
    ...observedGenerationOf(pod),
  };
}

/**
 * Returns the status of a rejected pod that is being deleted: with the conditions and containers that a rejection lacks. None
 * of its containers was created. `now` is in ms since the epoch.
 */
export function computeDeletedStatus(pod: Pod, rejected: PodStatus, node: NodeFacts, now: number): PodStatus {
  return computePodStatus({
    pod,
    node,
    now,
    previous: rejected,
    runtime: {...podRef(pod), sandboxes: [], containers: [], ips: []},
    reasons: new Map(),
    // Only IDs of containers contain it.
    runtimeName: '',
  });
}
