import type {Pod} from '../../api/v1.js';
import type {PodQOSClass} from '../../api/v1-status.js';
import {isCriticalPod} from '../kuberuntime/oom-score.js';
import {podQosClass} from '../kuberuntime/qos.js';
import {requestOf, type Shortage} from './node-room.js';

/** So much of a resource must become free. */
export interface Requirement {
  readonly resource: string;
  readonly quantity: bigint;
}

/** Which pods have to go, or what would be missing even if all went that may. */
export type Preemption =
  | {readonly kind: 'possible'; readonly victims: readonly Pod[]}
  | {readonly kind: 'impossible'; readonly missing: readonly Requirement[]};

/** Those that matter least come last. */
const BY_IMPORTANCE = ['Guaranteed', 'Burstable', 'BestEffort'] as const satisfies readonly PodQOSClass[];

/**
 * Which pods a critical pod takes the place of, that it finds the node short of something
 * (preemption.go getPodsToPreempt): of each QoS class as few as possible, and of the more important classes only what
 * the others could not give.
 */
export function podsToPreempt(pod: Pod, others: readonly Pod[], shortages: readonly Shortage[]): Preemption {
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
    const sure = candidates.filter((candidate) => lesser.includes(podQosClass(candidate)));
    const ofClass = candidates.filter((candidate) => podQosClass(candidate) === qos);
    // Before those of the class above, as they are ended.
    victims.unshift(...nearest(ofClass, without(required, [...sure, ...victims])));
  }
  return {kind: 'possible', victims};
}

/** A pod that isn't critical gives way to one that is, else the smaller priority to the larger if both say one (Preemptable). */
function isPreemptable(preemptor: Pod, other: Pod): boolean {
  if (isCriticalPod(preemptor) && !isCriticalPod(other)) return true;
  const [priority, otherPriority] = [preemptor.spec.priority, other.spec.priority];
  return priority !== undefined && otherPriority !== undefined && priority > otherPriority;
}

/** As few pods as give what is required: each time the one that leaves least of it (getPodsToPreemptByDistance). */
function nearest(candidates: readonly Pod[], required: readonly Requirement[]): readonly Pod[] {
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

/** Of two that are equally near, the one that asks for less memory, then for less CPU (smallerResourceRequest). */
function isNearer(pod: Pod, than: Pod, required: readonly Requirement[]): boolean {
  const [a, b] = [distance(pod, required), distance(than, required)];
  if (a !== b) return a < b;
  for (const resource of ['memory', 'cpu']) {
    const [asked, other] = [requestOf(pod, resource), requestOf(than, resource)];
    if (asked !== other) return asked < other;
  }
  return true;
}

/** How much would be missing yet, each resource as a share of what is required of it. */
function distance(pod: Pod, required: readonly Requirement[]): number {
  return required.reduce((sum, {resource, quantity}) => {
    const remaining = Number(quantity - requestOf(pod, resource));
    return remaining > 0 ? sum + (remaining / Number(quantity)) ** 2 : sum;
  }, 0);
}

/** What is required yet when the pods have gone. */
function without(required: readonly Requirement[], gone: readonly Pod[]): readonly Requirement[] {
  return required
    .map(({resource, quantity}) => ({
      resource,
      quantity: gone.reduce((rest, pod) => rest - requestOf(pod, resource), quantity),
    }))
    .filter(({quantity}) => quantity > 0n);
}
