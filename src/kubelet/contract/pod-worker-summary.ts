import type {Pod} from '../../api/types/v1-pod.js';
import type {PodUid} from '../../cri/index.js';

/** Kind of a pod worker's next work; it only ever advances (pod_workers.go PodWorkerState). */
export type WorkKind = 'sync' | 'terminating' | 'terminated';

/** State of one pod worker, for metrics and introspection. */
export interface WorkerSummary {
  readonly uid: PodUid;
  readonly lifecycle: WorkKind;
  /** Desired Pod; undefined for a pod known only from the runtime. */
  readonly pod: Pod | undefined;
}
