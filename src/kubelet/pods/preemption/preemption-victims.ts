import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodQOSClass} from '../../../api/types/v1-status.js';
import {isCriticalPod} from '../../sources/critical-pod.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {getResourceRequest, type InsufficientResource} from '../node-fit/node-capacity.js';

/** Quantity of a resource that must be reclaimed. */
export interface ReclaimRequirement {
  readonly resource: string;
  readonly quantity: bigint;
}

/** The pods to preempt, or the resources still missing after preempting all candidates. */
export type PreemptionDecision =
  | {readonly kind: 'possible'; readonly victims: readonly Pod[]}
  | {readonly kind: 'impossible'; readonly missing: readonly ReclaimRequirement[]};

/** QoS classes, most important first. */
const BY_IMPORTANCE = ['Guaranteed', 'Burstable', 'BestEffort'] as const satisfies readonly PodQOSClass[];

/**
 * Selects the pods that a critical pod preempts on a node with these shortages (preemption.go getPodsToPreempt).
 * Selects as few pods as possible of each QoS class, and pods of more important classes only if the others do not free
 * enough.
 */
export function selectPreemptionVictims(
  pod: Pod,
  others: readonly Pod[],
  shortages: readonly InsufficientResource[],
): PreemptionDecision {
  const required = shortages.map(({resource, requested, used, capacity}) => ({
    resource,
    quantity: requested - (capacity - used),
  }));
  const candidates = others.filter((other) => isPreemptable(pod, other));
  const missing = without(required, candidates);
  if (missing.length > 0) return {kind: 'impossible', missing};
  const victims: Pod[] = [];
  for (const [index, qos] of BY_IMPORTANCE.entries()) {
    const lesser: readonly PodQOSClass[] = BY_IMPORTANCE.slice(index + 1);
    const lessImportant = candidates.filter((candidate) => lesser.includes(computePodQosClass(candidate)));
    const ofClass = candidates.filter((candidate) => computePodQosClass(candidate) === qos);
    // Before the pods of the class above, in the order in which they are killed.
    victims.unshift(...nearest(ofClass, without(required, [...lessImportant, ...victims])));
  }
  return {kind: 'possible', victims};
}

/**
 * Reports whether the pod may preempt the other: a critical pod a non-critical one, or a higher priority a lower one
 * (Preemptable).
 */
function isPreemptable(preemptor: Pod, other: Pod): boolean {
  if (isCriticalPod(preemptor) && !isCriticalPod(other)) return true;
  const [priority, otherPriority] = [preemptor.spec.priority, other.spec.priority];
  return priority !== undefined && otherPriority !== undefined && priority > otherPriority;
}

/** Returns the fewest pods that free the required resources, nearest first (getPodsToPreemptByDistance). */
function nearest(candidates: readonly Pod[], required: readonly ReclaimRequirement[]): readonly Pod[] {
  const left = [...candidates];
  const chosen: Pod[] = [];
  for (let missing = required; missing.length > 0;) {
    const best = left.reduce((a, b) => (isNearer(b, a, missing) ? b : a));
    left.splice(left.indexOf(best), 1);
    chosen.push(best);
    missing = without(missing, [best]);
  }
  return chosen;
}

/**
 * Reports whether the pod is nearer than the other by distance, then by memory and CPU requests
 * (smallerResourceRequest).
 */
function isNearer(pod: Pod, than: Pod, required: readonly ReclaimRequirement[]): boolean {
  const [a, b] = [distance(pod, required), distance(than, required)];
  if (a !== b) return a < b;
  for (const resource of ['memory', 'cpu']) {
    const [request, other] = [getResourceRequest(pod, resource), getResourceRequest(than, resource)];
    if (request !== other) return request < other;
  }
  return true;
}

/** Returns the sum of squares of the missing shares of each required resource. */
function distance(pod: Pod, required: readonly ReclaimRequirement[]): number {
  return required.reduce((sum, {resource, quantity}) => {
    const remaining = Number(quantity - getResourceRequest(pod, resource));
    return remaining > 0 ? sum + (remaining / Number(quantity)) ** 2 : sum;
  }, 0);
}

/** Returns the requirements left after preempting the pods. */
function without(
  required: readonly ReclaimRequirement[],
  preempted: readonly Pod[],
): readonly ReclaimRequirement[] {
  return required
    .map(({resource, quantity}) => ({
      resource,
      quantity: preempted.reduce((rest, pod) => rest - getResourceRequest(pod, resource), quantity),
    }))
    .filter(({quantity}) => quantity > 0n);
}
