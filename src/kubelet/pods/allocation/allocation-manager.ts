import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodUid} from '../../../cri/index.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {
  allocationInStatus,
  allocationOf,
  withAllocation,
  withPodLevel,
} from '../../resources/pod-allocation.js';
import type {PodAllocation} from '../../contract/resources/actuated-resources.js';
import {podRef} from '../../contract/pod-ref.js';
import {computePodQosClass} from '../../resources/qos-class.js';
import {cpuMilli, memoryBytes, podRequests} from '../../resources/resource-amounts.js';
import type {PendingResize, ResizeReview} from '../../contract/pod-rejection.js';
import {canResizePod} from './resize-admission.js';

/** Options of AllocationManager.retryPendingResizes. */
export interface RetryPendingResizesOptions {
  /** Desired pods that have not terminated, with the resources that they request. */
  readonly active: readonly Pod[];
  readonly node: NodeFacts;
  /** True if a resize must fit the node. */
  readonly admission: boolean;
}

/** A pod with its allocated resources, cached by desired pod. */
interface Granted {
  readonly allocation: PodAllocation;
  readonly pod: Pod;
}

/**
 * Allocates resources to the daemon's pods, which may differ from their requests (allocation.Manager). The allocations are
 * in memory by default.
 */
export class AllocationManager {
  readonly #allocations: Map<PodUid, PodAllocation>;
  readonly #granted = new WeakMap<Pod, Granted>();
  /** Pods whose allocation may differ from their requests, in the order of the changes. */
  readonly #unsettled = new Set<PodUid>();
  readonly #pending = new Map<PodUid, PendingResize>();

  constructor(allocations = new Map<PodUid, PodAllocation>()) {
    this.#allocations = allocations;
  }

  get hasUnreviewedResizes(): boolean {
    return this.#unsettled.size > 0;
  }

  /** Admits the pod with its previous allocation, or with all that it requests. */
  admit(pod: Pod): void {
    if (this.restore(pod)) this.pushPendingResize(podRef(pod).uid);
  }

  /** Completes the previous allocation of the pod, or allocates all that it requests. Reports whether it had one. */
  restore(pod: Pod): boolean {
    const {uid} = podRef(pod);
    const known = this.#allocations.get(uid);
    const allocation = known === undefined ? allocationOf(pod) : withPodLevel(known, pod);
    if (allocation !== known) this.#allocations.set(uid, allocation);
    return known !== undefined;
  }

  /** Takes over what the status of a pod that was admitted before reports as allocated, unless that is known. */
  restoreFromStatus(pod: Pod): void {
    const {uid} = podRef(pod);
    const allocation = this.#allocations.has(uid) ? undefined : allocationInStatus(pod);
    if (allocation !== undefined) this.#allocations.set(uid, allocation);
  }

  /** Allocates to the pod the resources in its spec. */
  grant(pod: Pod): void {
    this.#allocations.set(podRef(pod).uid, allocationOf(pod));
  }

  /** Drops the allocation of a removed pod; if it is created again, it gets all that it requests. */
  forget(uid: PodUid): void {
    this.#allocations.delete(uid);
    this.#unsettled.delete(uid);
    this.#pending.delete(uid);
  }

  /** Drops the allocations of all pods but these (RemoveOrphanedPods). */
  removeOrphans(remaining: ReadonlySet<PodUid>): void {
    for (const uid of [...this.#allocations.keys()]) if (!remaining.has(uid)) this.forget(uid);
  }

  /**
   * Returns the pod with its allocated resources: the same object on each call, and `pod` itself if it already has
   * them.
   */
  getAllocatedPod(pod: Pod): Pod {
    const allocation = this.#allocations.get(podRef(pod).uid);
    if (allocation === undefined) return pod;
    const known = this.#granted.get(pod);
    if (known?.allocation === allocation) return known.pod;
    const granted = {allocation, pod: withAllocation(pod, allocation)};
    this.#granted.set(pod, granted);
    return granted.pod;
  }

  /**
   * Queues the pod for the next review of resizes, since its desired resources may have changed (PushPendingResize).
   */
  pushPendingResize(uid: PodUid): void {
    if (this.#allocations.has(uid)) this.#unsettled.add(uid);
  }

  /** Returns the reason why the pod's allocation differs from its requests, if it does and was reviewed. */
  getResizeReview(uid: PodUid): ResizeReview {
    return this.#pending.get(uid) ?? (this.#unsettled.has(uid) ? 'unreviewed' : undefined);
  }

  /**
   * Grants the resizes that now fit. Returns the pods whose resize was granted or whose pending message changed
   * (RetryPendingResizes). An infeasible resize is not reviewed again.
   */
  retryPendingResizes({active, node, admission}: RetryPendingResizesOptions): readonly Pod[] {
    const waiting = active.filter((pod) => this.#unsettled.has(podRef(pod).uid));
    return waiting
      .toSorted((a, b) => this.#compare(a, b))
      .filter((pod) => {
        const {uid} = podRef(pod);
        const allocation = this.#allocations.get(uid) ?? allocationOf(pod);
        const others = active
          .filter((other) => podRef(other).uid !== uid)
          .map((other) => this.getAllocatedPod(other));
        const decision = canResizePod({pod, allocation, others, node, admission});
        const before = this.#pending.get(uid);
        const pending = decision.kind === 'pending' ? decision.pending : undefined;
        if (pending?.reason !== 'Deferred') this.#unsettled.delete(uid);
        if (pending === undefined) this.#pending.delete(uid);
        else this.#pending.set(uid, pending);
        if (decision.kind === 'fits') this.grant(pod);
        return decision.kind === 'fits' || before?.message !== pending?.message;
      });
  }

  /**
   * Compares two pods for the order of resizes: pods that do not grow first, then by priority, QoS class and order of
   * the changes (sortPendingResizes).
   */
  #compare(a: Pod, b: Pod): number {
    return (
      Number(this.#growing(a)) - Number(this.#growing(b)) ||
      (b.spec.priority ?? 0) - (a.spec.priority ?? 0) ||
      Number(computePodQosClass(b) === 'Guaranteed') - Number(computePodQosClass(a) === 'Guaranteed') ||
      this.#order(a) - this.#order(b)
    );
  }

  #order(pod: Pod): number {
    return [...this.#unsettled].indexOf(podRef(pod).uid);
  }

  #growing(pod: Pod): boolean {
    const [wanted, granted] = [podRequests(pod), podRequests(this.getAllocatedPod(pod))];
    return cpuMilli(wanted) > cpuMilli(granted) || memoryBytes(wanted) > memoryBytes(granted);
  }
}
