import type {Pod} from '../../api/types/v1-pod.js';
import type {PodStatus} from '../../api/types/v1-status.js';
import type {PodRef} from '../contract/pod-ref.js';
import type {FinalWaitResult} from './pod-wait.js';

/** A pod to sync and its manifest. */
export interface SyncRequest {
  readonly pod: Pod;
  /** Manifest file, or `-` for standard input. */
  readonly source: string;
}

/** A failed sync. */
export interface FailedSync {
  readonly kind: 'failed';
  readonly error: unknown;
  /** True if the new pod was removed again. */
  readonly removed: boolean;
  /** Error of the removal of the new pod. */
  readonly removalError?: unknown;
}

/** A sync that reached its time limit. */
export interface TimedOutSync {
  readonly kind: 'timeout';
  /** Error of the last sync, if it failed. */
  readonly error: unknown;
}

/** A sync whose signal was aborted; the pod keeps running. */
export interface InterruptedSync {
  readonly kind: 'interrupted';
  readonly reason: unknown;
}

/** Result of the sync of one pod. */
export type ForegroundSyncResult = SyncedPod &
  (FinalWaitResult | FailedSync | TimedOutSync | InterruptedSync);

/** A pod after its sync. */
interface SyncedPod {
  readonly pod: PodRef;
  /** Last known status. */
  readonly status: PodStatus | undefined;
  /** True if the pod had terminated before the sync. */
  readonly hadEnded: boolean;
  /** True for a pod of a Job whose result does not matter, because the Job has continued without it. */
  readonly isRetried?: boolean;
}
