import type {Pod} from '../api/v1.js';
import type {PodStatus} from '../api/v1-status.js';
import type {Logger} from '../base/logger.js';
import type {KubeletMetrics} from './container/kubelet-metrics.js';
import {namespacedName, podRef} from './container/pod-ref.js';
import {killPodNow, type KillContext} from './kill-pod-now.js';
import {DISRUPTION_TARGET} from './status/conditions.js';

/** What pods are ended with that have to go. */
export interface PreemptContext extends KillContext {
  readonly logger: Logger;
  readonly metrics?: Pick<KubeletMetrics, 'preempted'>;
}

/** A critical pod that comes, those that have to go for it, and the resource that it found too little of. */
export interface PreemptionOrder {
  readonly pod: Pod;
  readonly victims: readonly Pod[];
  readonly resource: string;
}

const REASON = 'Preempting';
const MESSAGE = 'Preempted in order to admit critical pod';

/**
 * Ends pods one after the other, so that a critical one has room (preemption.go evictPodsToFreeRequests). One that
 * doesn't end in time is told of and left to its worker. Rejects with the signal's reason.
 */
export async function preemptPods(
  context: PreemptContext,
  {pod, victims, resource}: PreemptionOrder,
  signal: AbortSignal,
): Promise<void> {
  const {logger, events, clock, metrics} = context;
  const status = (before: PodStatus): PodStatus => preempted(before, new Date(clock.now()).toISOString());
  for (const victim of victims) {
    events({type: 'Warning', reason: REASON, message: MESSAGE, pod: victim});
    const fields = {pod: namespacedName(podRef(victim)), podUID: podRef(victim).uid};
    logger.info(
      'Preempting pod to free up resources',
      {...fields, requestingPod: namespacedName(podRef(pod))},
      2,
    );
    try {
      await killPodNow(context, victim, {status}, signal);
    } catch (error) {
      signal.throwIfAborted();
      logger.error(error, 'Failed to evict pod', fields);
      continue;
    }
    metrics?.preempted(resource);
    logger.info('Pod evicted successfully', fields);
  }
}

function preempted(status: PodStatus, now: string): PodStatus {
  const others = (status.conditions ?? []).filter(({type}) => type !== DISRUPTION_TARGET);
  const before = status.conditions?.find(({type}) => type === DISRUPTION_TARGET);
  const condition = {
    type: DISRUPTION_TARGET,
    status: 'True',
    reason: 'TerminationByKubelet',
    message: 'Pod was preempted by Kubelet to accommodate a critical pod.',
    lastTransitionTime: before?.lastTransitionTime ?? now,
  } as const;
  return {...status, phase: 'Failed', reason: REASON, message: MESSAGE, conditions: [...others, condition]};
}
