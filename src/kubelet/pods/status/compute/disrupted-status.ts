import type {Pod} from '../../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../../api/types/v1-status.js';
import {DISRUPTION_TARGET, observedGenerationOf} from './pod-conditions.js';

/** Reason why the kubelet ends a pod, and its explanation in the condition. */
export interface Disruption {
  readonly reason: string;
  readonly message: string;
  readonly conditionMessage: string;
}

/**
 * Returns the status of a pod that the kubelet ends to protect the node or a critical pod: Failed, with the condition
 * DisruptionTarget. The condition is sent when the containers have stopped, so that its time is `now`, in RFC 3339, of the
 * last call.
 */
export function computeDisruptedStatus(
  pod: Pod,
  status: PodStatus,
  {reason, message, conditionMessage}: Disruption,
  now: string,
): PodStatus {
  const others = (status.conditions ?? []).filter(({type}) => type !== DISRUPTION_TARGET);
  const condition = {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason: 'TerminationByKubelet',
    message: conditionMessage,
    lastTransitionTime: now,
    ...observedGenerationOf(pod),
  } as const;
  return {...status, phase: 'Failed', reason, message, conditions: [...others, condition]};
}
