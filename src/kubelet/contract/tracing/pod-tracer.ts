import type {Pod} from '../../../api/types/v1-pod.js';

/** Spans of a kubelet about pods (kubelet.go). */
export type PodSpan = 'syncPod' | 'syncTerminatingPod' | 'syncTerminatedPod';

/** Traces the work of pod workers. */
export interface PodTracer {
  /**
   * Runs the work in a span, to which the calls of the runtime during it belong, and settles with its result. `updateType` is why
   * the pod is synced.
   */
  trace<T>(span: PodSpan, pod: Pod, updateType: string, work: () => Promise<T>): Promise<T>;
}
