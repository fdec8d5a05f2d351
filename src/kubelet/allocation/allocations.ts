import type {Pod} from '../../api/v1.js';
import type {PodUid} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import {allocationOf, withAllocation, type PodAllocation} from '../container/pod-allocation.js';
import {podRef} from '../container/pod-ref.js';
import {podQosClass} from '../kuberuntime/qos.js';
import {cpuMilli, memoryBytes, podRequests} from '../kuberuntime/resource-amounts.js';
import {judgeResize, type PendingResize} from './judge-resize.js';

/** What the judgement of resizes asks for. */
export interface ReviewOptions {
  /** The pods that are wanted and have not ended, as they are wanted. */
  readonly active: readonly Pod[];
  readonly node: NodeFacts;
  /** Whether it matters that the node has room. */
  readonly admission: boolean;
}

/** A pod with what it was granted, as long as it is asked for. */
interface Granted {
  readonly allocation: PodAllocation;
  readonly pod: Pod;
}

/**
 * Which resources the daemon's pods were granted, which may be others than they ask for (allocation.Manager). What was
 * granted is kept in the pods' records.
 */
export class Allocations {
  readonly #allocations = new Map<PodUid, PodAllocation>();
  readonly #granted = new WeakMap<Pod, Granted>();
  /** Pods that may ask for something else, in the order in which that came up. */
  readonly #unsettled = new Set<PodUid>();
  readonly #pending = new Map<PodUid, PendingResize>();

  get isUnsettled(): boolean {
    return this.#unsettled.size > 0;
  }

  /** The node has the pod: with what it was granted before, or all that it asks for. */
  admit(pod: Pod): void {
    if (this.#allocations.has(podRef(pod).uid)) this.push(podRef(pod).uid);
    else this.grant(pod);
  }

  /** The pod has what it says, now or from an earlier daemon. */
  grant(pod: Pod): void {
    this.#allocations.set(podRef(pod).uid, allocationOf(pod));
  }

  /** A pod that was removed is granted all it asks for when it comes again. */
  forget(uid: PodUid): void {
    this.#allocations.delete(uid);
    this.#unsettled.delete(uid);
    this.#pending.delete(uid);
  }

  /** The pod with what it was granted: the same object each time, itself when that is what it asks for. */
  of(pod: Pod): Pod {
    const allocation = this.#allocations.get(podRef(pod).uid);
    if (allocation === undefined) return pod;
    const known = this.#granted.get(pod);
    if (known?.allocation === allocation) return known.pod;
    const granted = {allocation, pod: withAllocation(pod, allocation)};
    this.#granted.set(pod, granted);
    return granted.pod;
  }

  /** Has the pod looked at by the next review: it may be wanted otherwise than before (PushPendingResize). */
  push(uid: PodUid): void {
    if (this.#allocations.has(uid)) this.#unsettled.add(uid);
  }

  /** Why the pod doesn't have what it asks for. */
  pendingOf(uid: PodUid): PendingResize | undefined {
    return this.#pending.get(uid);
  }

  /**
   * Grants what there is room for by now, and gives the pods of which something is new (RetryPendingResizes). What
   * never fits isn't looked at again.
   */
  review({active, node, admission}: ReviewOptions): readonly Pod[] {
    const waiting = active.filter((pod) => this.#unsettled.has(podRef(pod).uid));
    return waiting
      .toSorted((a, b) => this.#compare(a, b))
      .filter((pod) => {
        const {uid} = podRef(pod);
        const allocation = this.#allocations.get(uid) ?? allocationOf(pod);
        const others = active.filter((other) => podRef(other).uid !== uid).map((other) => this.of(other));
        const verdict = judgeResize({pod, allocation, others, node, admission});
        const before = this.#pending.get(uid);
        const pending = verdict.kind === 'pending' ? verdict.pending : undefined;
        if (pending?.reason !== 'Deferred') this.#unsettled.delete(uid);
        if (pending === undefined) this.#pending.delete(uid);
        else this.#pending.set(uid, pending);
        if (verdict.kind === 'fits') this.grant(pod);
        return verdict.kind === 'fits' || before?.message !== pending?.message;
      });
  }

  /** Whose turn it is first: who asks for no more, then by priority and class (sortPendingResizes). */
  #compare(a: Pod, b: Pod): number {
    return (
      Number(this.#growing(a)) - Number(this.#growing(b)) ||
      (b.spec.priority ?? 0) - (a.spec.priority ?? 0) ||
      Number(podQosClass(b) === 'Guaranteed') - Number(podQosClass(a) === 'Guaranteed') ||
      this.#order(a) - this.#order(b)
    );
  }

  #order(pod: Pod): number {
    return [...this.#unsettled].indexOf(podRef(pod).uid);
  }

  #growing(pod: Pod): boolean {
    const [wanted, granted] = [podRequests(pod), podRequests(this.of(pod))];
    return cpuMilli(wanted) > cpuMilli(granted) || memoryBytes(wanted) > memoryBytes(granted);
  }
}
