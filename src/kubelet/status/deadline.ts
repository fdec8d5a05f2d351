import type {Pod} from '../../api/v1.js';
import type {PodStatus} from '../../api/v1-status.js';
import {podEvents, type EventSink} from '../container/events.js';

/** How a pod ends whose time is up. */
export const DEADLINE_EXCEEDED = {
  phase: 'Failed',
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
} as const satisfies PodStatus;

/** When the time of a pod is up, in ms since the epoch: never for one without a limit, or that hasn't begun. */
export function deadlineOf({spec: {activeDeadlineSeconds}}: Pod, {startTime}: PodStatus = {}): number {
  if (activeDeadlineSeconds === undefined || startTime === undefined) return Infinity;
  return Date.parse(startTime) + activeDeadlineSeconds * 1000;
}

/** Whether a pod has been active for as long as it may; `now` in ms since the epoch (active_deadline.go). */
export function deadlineExceeded(pod: Pod, status: PodStatus | undefined, now: number): boolean {
  return now >= deadlineOf(pod, status);
}

/** Tells once that a pod's time is up. */
export function tellDeadline(
  sink: EventSink,
  pod: Pod,
  {before, now}: {readonly before: PodStatus | undefined; readonly now: PodStatus},
): void {
  const {reason, message} = DEADLINE_EXCEEDED;
  if (now.reason === reason && before?.reason !== reason) podEvents(sink, pod).normal(reason, message);
}
