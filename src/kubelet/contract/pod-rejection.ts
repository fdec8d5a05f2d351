import type {Pod} from '../../api/types/v1-pod.js';

/** Reason why the node does not admit a pod, in the kubelet's wording (lifecycle.PodAdmitResult). */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
  readonly hint: string;
}

/** Result of the last review of a pod's resize; undefined if the pod has the resources that it requests. */
export type ResizeReview = PendingResize | 'unreviewed' | undefined;

/** Reason why a pod does not get the resources it requests, now (`Deferred`) or ever (condition PodResizePending). */
export interface PendingResize {
  readonly reason: 'Deferred' | 'Infeasible';
  /** Reason in the text of the event, if it differs: the resource that is short, such as `OutOfcpu`. */
  readonly cause?: string;
  readonly message: string;
  /** The desired Pod. */
  readonly pod: Pod;
}
