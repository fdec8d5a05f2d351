import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import {computePodQosClass} from '../../managers/kuberuntime/config/resources/qos-class.js';
import {observedGenerationOf} from '../status/compute/pod-conditions.js';

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
