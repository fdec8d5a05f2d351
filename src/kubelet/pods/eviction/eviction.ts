import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';

/** Reason of an evicted pod (eviction.Reason). */
export const EVICTED = 'Evicted';

/** Grace period of a pod that must be evicted at once, in seconds (immediateEvictionGracePeriodSeconds). */
export const GRACE_SECONDS = 1;

/** Kills a pod without waiting for it to stop; `status` changes its final status (eviction.KillPodFunc). */
export type EvictPod = (
  pod: Pod,
  how: {readonly gracePeriodSeconds: number; readonly status: (status: PodStatus) => PodStatus},
) => void;
