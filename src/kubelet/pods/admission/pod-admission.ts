import {quantityValue} from '../../../api/quantity.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import {isExtendedResource} from '../../../api/validation/validate-resources.js';
import type {PodUid} from '../../../cri/index.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import type {NodePressure} from '../../contract/cluster/node-pressure.js';
import type {NodeObjectFacts} from '../../contract/cluster/cluster-link.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import {podRef} from '../../contract/pod-ref.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import type {AllocationManager} from '../allocation/allocation-manager.js';
import {isStaticPod} from '../../sources/static-pod.js';
import {computeNeededPreemption} from '../preemption/needed-preemption.js';
import {preemptPods, type PreemptContext} from '../preemption/preempt-pods.js';
import {findRejectionOfManagers, findRejectionOfNode} from './admit-pod.js';
import {computeDeletedStatus, computeRejectedStatus} from './rejected-status.js';
import {reportUnknownResources} from './unknown-resources.js';

/** Dependencies of PodAdmission. */
export interface PodAdmissionOptions extends PreemptContext {
  readonly node: NodeFacts;
  /** Returns the labels and taints of the Node object in the cluster; undefined without one. */
  readonly nodeObject?: (() => NodeObjectFacts | undefined) | undefined;
  /** Returns the pressure conditions of the node. */
  readonly pressures: () => readonly NodePressure[];
  /** Managers that allocate what the pod needs, unless admission is off. */
  readonly nodeManagers: Pick<
    NodeManagers,
    'admit' | 'takeExtendedResources' | 'usedExtendedResources' | 'offersResource'
  >;
  /** True if pods that do not fit the node are rejected. */
  readonly enabled: boolean;
  /** Reports whether kcri managed the pod before it was added, so that it was warned about already. */
  readonly isManaged: (uid: PodUid) => boolean;
  readonly allocations: AllocationManager;
  readonly metrics?: Pick<KubeletMetrics, 'podPreempted' | 'podAdded'> | undefined;
  readonly rejections?: RejectionSink | undefined;
}

/** Receiver of the rejections, for other processes. Its functions must not throw. */
export interface RejectionSink {
  readonly record: (pod: Pod, rejection: Rejection) => void;
  readonly clear: (uid: PodUid) => void;
}

/**
 * Admits pods to the node, records the rejected ones, and allocates resources to the others (allocation.Manager AddPod,
 * kubelet.go rejectPod).
 */
export class PodAdmission {
  readonly #options: PodAdmissionOptions;
  /** Status shown for each rejected pod. */
  readonly #rejected = new Map<PodUid, PodStatus>();

  constructor(options: PodAdmissionOptions) {
    this.#options = options;
  }

  /**
   * Resolves with whether the node admits the pod beside the `active` ones, after preempting pods for it if necessary;
   * replaces an earlier rejection. A rejected pod gets an event and the status that rejectedStatus returns. Rejects with
   * the signal's reason.
   */
  async admit(pod: Pod, active: readonly Pod[], signal: AbortSignal): Promise<boolean> {
    const {enabled, node, nodeObject, nodeManagers, allocations, isManaged} = this.#options;
    if (isManaged(podRef(pod).uid)) allocations.restoreFromStatus(pod);
    const others = active.map((other) => allocations.getAllocatedPod(other));
    const request = {
      pod: allocations.getAllocatedPod(pod),
      others,
      preemptable: others,
      pressures: this.#options.pressures(),
      node: {...node, ...nodeObject?.(), extendedResources: () => this.#extendedResources()},
    };
    const rejection = await (enabled
      ? findRejectionOfNode(request, nodeManagers, signal)
      : findRejectionOfManagers(request.pod, nodeManagers, signal));
    if (rejection !== undefined) {
      this.#reject(pod, rejection);
      return false;
    }
    this.clearRejection(podRef(pod).uid);
    if (!enabled) return true;
    const needed = computeNeededPreemption(request);
    if (needed !== undefined) await preemptPods(this.#options, {pod, ...needed}, signal);
    return true;
  }

  /**
   * Returns the allocatable extended resources of the Node object, or without a cluster those of the managers; at least what
   * containers use, so that they can go on when a plugin has ended (sanitizeNodeAllocatable).
   */
  #extendedResources(): ReadonlyMap<string, bigint> {
    const {nodeManagers, nodeObject} = this.#options;
    const stored = nodeObject?.()?.allocatable;
    const resources = new Map(
      stored === undefined
        ? [...nodeManagers.takeExtendedResources().allocatable].map(([name, count]) => [name, BigInt(count)])
        : Object.entries(stored)
            .filter(([name]) => isExtendedResource(name))
            .map(([name, amount]) => [name, quantityValue(amount)]),
    );
    for (const [name, count] of nodeManagers.usedExtendedResources())
      if ((resources.get(name) ?? 0n) < BigInt(count)) resources.set(name, BigInt(count));
    return resources;
  }

  #reject(pod: Pod, rejection: Rejection): void {
    const {events, clock, rejections} = this.#options;
    const {reason, message} = rejection;
    const {uid} = podRef(pod);
    events({type: 'Warning', reason, message, pod});
    // The status manager sets the time with the first status and keeps it (updateStatusInternal).
    const startTime = this.#rejected.get(uid)?.startTime ?? formatRfc3339Seconds(clock.now());
    this.#rejected.set(uid, computeRejectedStatus(pod, rejection, startTime));
    rejections?.record(pod, rejection);
  }

  isRejected(uid: PodUid): boolean {
    return this.#rejected.has(uid);
  }

  /** Returns the status of a rejected pod; undefined for any other. */
  rejectedStatus(uid: PodUid): PodStatus | undefined {
    return this.#rejected.get(uid);
  }

  /** Completes the status of a rejected pod that is being deleted (SyncTerminatingPod). */
  completeStatus(pod: Pod): void {
    const {node, clock} = this.#options;
    const {uid} = podRef(pod);
    const rejected = this.#rejected.get(uid);
    if (rejected !== undefined)
      this.#rejected.set(uid, computeDeletedStatus(pod, rejected, node, clock.now()));
  }

  /** Clears the rejection of the pod. Returns whether it was rejected. */
  clearRejection(uid: PodUid): boolean {
    const wasRejected = this.#rejected.delete(uid);
    if (wasRejected) this.#options.rejections?.clear(uid);
    return wasRejected;
  }

  /**
   * Allocates the resources of a pod that is about to start. Warns if a new pod of a manifest has resources unknown to the
   * node; in a cluster, the Node may offer them, and the scheduler knows.
   */
  allocate(pod: Pod): void {
    const {allocations, events, metrics, isManaged, nodeManagers} = this.#options;
    if (isStaticPod(pod) && !isManaged(podRef(pod).uid)) {
      const known = this.#extendedResources();
      reportUnknownResources(pod, events, (name) => known.has(name) || nodeManagers.offersResource(name));
    }
    allocations.admit(pod);
    metrics?.podAdded(pod.spec.containers.length);
  }

  /** Grants the resizes that now fit beside the `active` pods. Returns the pods to sync because of a change. */
  retryPendingResizes(active: readonly Pod[]): readonly Pod[] {
    const {allocations, node, enabled} = this.#options;
    return allocations.retryPendingResizes({active, node, admission: enabled});
  }
}
