import type {PodStatus} from '../../../api/types/v1-status.js';
import type {ResizeReview} from '../../contract/pod-rejection.js';

/** Options of the termination of a pod; `override` changes its computed status. */
export interface TerminationOptions {
  readonly gracePeriodSeconds: number;
  readonly override?: ((status: PodStatus) => PodStatus) | undefined;
  /** True if the pod is being deleted, which its last-known state records. */
  readonly isDeletion?: boolean;
  /** Signal that interrupts the waits for containers to stop. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of a sync by a pod worker. */
export interface SyncOptions {
  readonly networkError: string | undefined;
  /** Reason why the pod does not get the resources that it requests. */
  readonly resizeReview: ResizeReview;
  /** Period in which the volumes of an idle pod are refreshed, in ms (syncFrequency). */
  readonly syncFrequencyMs: number;
  /** True if starts of containers in a sandbox that ends do not count (see computeSandboxDoubt); false by default. */
  readonly voidsAttempts?: boolean;
  /** Called with the status that the sync starts from. */
  readonly onStatus?: (status: PodStatus) => void;
  /** Called when the pod's cgroup and directories exist, before anything outside of the node is waited for. Must not throw. */
  readonly onDirsMade?: (() => void) | undefined;
  readonly signal: AbortSignal;
}

/** Options of the computation of a status. */
export interface PassOptions extends Pick<TerminationOptions, 'override'> {
  readonly isTerminal?: boolean;
  /** True if the pass only observes: it enforces no deadline and leaves the resize conditions unchanged. */
  readonly observesOnly?: boolean;
}
