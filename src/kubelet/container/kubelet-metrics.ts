import type {ProbeKind} from './probe-results.js';
import type {SyncResult} from './sync-result.js';

/** A probe of a container that was made. */
export interface MadeProbe {
  readonly probe: ProbeKind;
  readonly result: 'successful' | 'failed' | 'unknown';
  readonly durationMs: number;
  readonly pod: {readonly name: string; readonly namespace: string; readonly uid: string};
  readonly container: string;
}

/** An image that somebody asked for; what isn't known is undefined. */
export interface EnsuredImage {
  readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly isPresent: boolean | undefined;
  readonly mustPull: boolean | undefined;
}

/** Counts what a kubelet does (pkg/kubelet/metrics). Must not throw, and costs nearly nothing. */
export interface KubeletMetrics {
  /** A worker has answered an update, so long after it came (pod_worker_duration_seconds). */
  worked(operation: 'create' | 'update' | 'sync' | 'kill', durationMs: number): void;
  /** The worker begins of a new pod that was first seen then, ms since the epoch (pod_worker_start_duration_seconds). */
  workerStarted(seenAtMs: number): void;
  /** A pod runs now that was first seen then, ms since the epoch (pod_start_duration_seconds). */
  podStarted(seenAtMs: number): void;
  /** A pod with so many containers is to run (containers_per_pod_count). */
  podAdded(containers: number): void;
  /** What a sync did (started_pods_total, started_containers_total and their errors, of user namespaces too). */
  synced(results: readonly SyncResult[], hasUserNamespace: boolean): void;
  /** A pod was ended because of what it uses, such as `emptydirfs.limit` (evictions). */
  evicted(signal: string): void;
  /** A pod begins anew that had been deleted and came back with the same UID (restarted_pods_total). */
  restarted(isStatic: boolean): void;
  /** A pod runs that no worker knows of (orphaned_runtime_pods_total). */
  orphanFound(): void;
  /** So many pods that nobody wants were to be removed in the last round, and so many couldn't be (orphan_pod_cleaned_volumes). */
  orphansRemoved(count: number, failures: number): void;
  /** image_manager_ensure_image_requests_total */
  imageEnsured(image: EnsuredImage): void;
  /** image_pull_duration_seconds, without waiting for other pulls; the size is 0 when nobody tells it. */
  imagePulled(sizeBytes: bigint, durationMs: number): void;
  /** An unused image was removed (image_garbage_collected_total). */
  imageCollected(reason: 'age' | 'space'): void;
  /** A pod was ended so that a critical one gets the resource (preemptions). */
  preempted(resource: string): void;
  /** Nothing of the pod is left: nobody asks for its numbers any more. */
  podGone(pod: MadeProbe['pod']): void;
  /** prober_probe_total, prober_probe_duration_seconds. */
  probed(probe: MadeProbe): void;
}

/** For whoever doesn't count. */
export const NO_METRICS: KubeletMetrics = {
  worked: () => undefined,
  workerStarted: () => undefined,
  podStarted: () => undefined,
  podAdded: () => undefined,
  synced: () => undefined,
  evicted: () => undefined,
  restarted: () => undefined,
  orphanFound: () => undefined,
  orphansRemoved: () => undefined,
  imageEnsured: () => undefined,
  imagePulled: () => undefined,
  imageCollected: () => undefined,
  preempted: () => undefined,
  podGone: () => undefined,
  probed: () => undefined,
};
