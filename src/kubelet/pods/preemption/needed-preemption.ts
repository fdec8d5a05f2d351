import type {Pod} from '../../../api/types/v1-pod.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {isCriticalPod} from '../../sources/critical-pod.js';
import {findInsufficientResources} from '../node-fit/node-capacity.js';
import {selectPreemptionVictims, type PreemptionDecision} from './preemption-victims.js';

/** A pod that must fit on the node. */
export interface PreemptionInput {
  readonly pod: Pod;
  /** The other pods on the node that are not terminal. */
  readonly others: readonly Pod[];
  /** Pods of `others` that may be preempted; none by default. */
  readonly preemptable?: readonly Pod[];
  readonly node: NodeFacts;
}

/** Decides which pods a critical pod preempts; any other pod preempts none. */
export function decidePreemption({pod, others, preemptable = [], node}: PreemptionInput): PreemptionDecision {
  return selectPreemptionVictims(
    pod,
    preemptable,
    isCriticalPod(pod) ? findInsufficientResources(pod, others, node) : [],
  );
}

/** Preemption required before an admitted pod can start. */
export interface NeededPreemption {
  readonly victims: readonly Pod[];
  /** The first resource that the node lacks. */
  readonly resource: string;
}

/** Returns the preemption that an admitted pod needs; undefined if the pod fits the node without preemption. */
export function computeNeededPreemption(input: PreemptionInput): NeededPreemption | undefined {
  const {pod, others, node} = input;
  const preemption = decidePreemption(input);
  const [short] = findInsufficientResources(pod, others, node);
  if (short === undefined || preemption.kind === 'impossible') return undefined;
  return {victims: preemption.victims, resource: short.resource};
}
