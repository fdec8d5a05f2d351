import type {Pod} from '../../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../../api/types/v1-status.js';

/** Terminal status of a pod past its active deadline. */
export const DEADLINE_EXCEEDED = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const satisfies PodStatus;

/** Returns the pod's deadline in ms since the epoch; Infinity without activeDeadlineSeconds or before its start. */
export function computeDeadlineMs({spec: {activeDeadlineSeconds}}: Pod, {startTime}: PodStatus = {}): number {
  if (activeDeadlineSeconds === undefined || startTime === undefined) return Infinity;
  return Date.parse(startTime) + activeDeadlineSeconds * 1000;
}

/** Reports whether the pod is past its active deadline; `now` in ms since the epoch (active_deadline.go). */
export function isDeadlineExceeded(pod: Pod, status: PodStatus | undefined, now: number): boolean {
  return now >= computeDeadlineMs(pod, status);
}
