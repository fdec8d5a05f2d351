import type {Pod} from '../../api/types/v1-pod.js';

/** Reason why the node does not admit a pod, in the kubelet's wording (lifecycle.PodAdmitResult). */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
}

/** Reason why a pod does not get the resources it requests, now (`Deferred`) or ever (condition PodResizePending). */
export interface PendingResize {
  readonly reason: 'Deferred' | 'Infeasible';
  /** What the event names instead of the reason, such as `OutOfcpu`. */
  readonly cause?: string;
  readonly message: string;
  /** The desired Pod. */
  readonly pod: Pod;
}
