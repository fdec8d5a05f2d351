import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Clock} from '../../../base/clock.js';
import type {Logger} from '../../../base/logger.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {EventSink} from '../../contract/pod-event.js';
import {namespacedName, podRef} from '../../contract/pod-ref.js';
import {computeDisruptedStatus} from '../status/compute/disrupted-status.js';

/**
 * Stops a pod with `status` applied to its status (eviction.KillPodFunc). Resolves when all containers of the pod have
 * stopped. Rejects when that takes too long, and with the signal's reason.
 */
export type KillPod = (
  pod: Pod,
  kill: {readonly status: (status: PodStatus) => PodStatus},
  signal: AbortSignal,
) => Promise<void>;

/** Dependencies of preemptPods. */
export interface PreemptContext {
  readonly killPod: KillPod;
  readonly clock: Pick<Clock, 'now'>;
  readonly events: EventSink;
  readonly logger: Logger;
  readonly metrics?: Pick<KubeletMetrics, 'podPreempted'> | undefined;
}

/** A critical pod, the pods to preempt for it, and the resource that the node lacks. */
export interface PreemptionRequest {
  readonly pod: Pod;
  readonly victims: readonly Pod[];
  readonly resource: string;
}

const REASON = 'Preempting';
const MESSAGE = 'Preempted in order to admit critical pod';
const DISRUPTION = {
  reason: REASON,
  message: MESSAGE,
  conditionMessage: 'Pod was preempted by Kubelet to accommodate a critical pod.',
};

/**
 * Kills the victims one after the other so that the critical pod fits (preemption.go evictPodsToFreeRequests). Logs a
 * victim that does not stop in time and leaves it to its worker. Rejects with the signal's reason.
 */
export async function preemptPods(
  {killPod, logger: log, events, clock, metrics}: PreemptContext,
  {pod, victims, resource}: PreemptionRequest,
  signal: AbortSignal,
): Promise<void> {
  const logger = log.forFile('preempt-pods.ts');
  for (const victim of victims) {
    const status = (before: PodStatus): PodStatus =>
      computeDisruptedStatus(victim, before, DISRUPTION, formatRfc3339Seconds(clock.now()));
    events({type: 'Warning', reason: REASON, message: MESSAGE, pod: victim});
    const fields = {pod: namespacedName(podRef(victim)), podUID: podRef(victim).uid};
    logger.info(
      'Preempting pod to free up resources',
      {...fields, requestingPod: namespacedName(podRef(pod))},
      2,
    );
    try {
      await killPod(victim, {status}, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.error(error, 'Failed to evict pod', fields);
      continue;
    }
    metrics?.podPreempted(resource);
    logger.info('Pod evicted successfully', fields);
  }
}
