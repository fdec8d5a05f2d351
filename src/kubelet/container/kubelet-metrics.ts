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

/** Counts what a kubelet does (pkg/kubelet/metrics). Must not throw, and costs nearly nothing. */
export interface KubeletMetrics {
  /** A worker has answered an update, so long after it came (pod_worker_duration_seconds). */
  worked(operation: 'create' | 'update' | 'sync' | 'kill', durationMs: number): void;
  /** The worker begins of a new pod that was first seen then, ms since the epoch (pod_worker_start_duration_seconds). */
  workerStarted(seenAtMs: number): void;
  /** A pod runs now that was first seen then, ms since the epoch (pod_start_duration_seconds). */
  podStarted(seenAtMs: number): void;
  /** What a sync did (started_pods_total, started_containers_total and their errors). */
  synced(results: readonly SyncResult[]): void;
  /** A pod begins anew that had been deleted and came back with the same UID (restarted_pods_total). */
  restarted(isStatic: boolean): void;
  /** So many pods that nobody wants were removed in the last round (orphan_pod_cleaned_volumes). */
  orphansRemoved(count: number): void;
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
  synced: () => undefined,
  restarted: () => undefined,
  orphansRemoved: () => undefined,
  preempted: () => undefined,
  podGone: () => undefined,
  probed: () => undefined,
};
