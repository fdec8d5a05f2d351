import type {PodStatus} from '../../../api/types/v1-status.js';
import type {CriCall, PodEvent, ForegroundSyncResult, PodRef} from '../../../kubelet/index.js';
import type {LiveDisplay} from '../../../cli/output/live-region.js';
import type {SyncTotals} from '../sync-counts.js';

/** A stream of a container. */
export interface LogOrigin {
  readonly container: string;
  readonly stream: 'stdout' | 'stderr';
}

/** Content of manifests besides Pods and the objects that they refer to. */
export interface ManifestContent {
  readonly workloads: readonly ManifestWorkload[];
  /** Objects without effect, with their positions. */
  readonly skipped: readonly Readonly<Record<string, unknown>>[];
}

/** A workload and the names of its pods. */
export interface ManifestWorkload {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly pods: readonly string[];
}

/** Shows the progress of a sync. */
export interface SyncRenderer extends LiveDisplay {
  /** Shows what the manifests contain; undefined if the renderer does not. */
  readonly content?: (content: ManifestContent) => void;
  callStarted(pod: PodRef, call: Pick<CriCall, 'method' | 'request'>): void;
  callFinished(pod: PodRef, call: CriCall): void;
  event(pod: PodRef, event: PodEvent): void;
  status(pod: PodRef, status: PodStatus): void;
  /** Shows other information about the pod, such as a wait for its lock or its removal. */
  note(pod: PodRef, text: string): void;
  result(outcome: ForegroundSyncResult, exitCode: number): void;
  /** Shows lines of a container's log that arrived together, without their newlines. */
  log(pod: PodRef, origin: LogOrigin, lines: readonly string[]): void;
  /** Shows the last lines of a failed container, unless its log was shown. */
  lastOutput(pod: PodRef, container: string, lines: readonly string[]): void;
  /** Restores the terminal and shows the totals, if the sync ended with results. Nothing is shown afterwards. */
  end(totals?: SyncTotals): void;
}

/** Renders nothing, for pipes whose reader expects only the result. */
export class SilentRenderer implements SyncRenderer {
  readonly callStarted = ignore;
  readonly callFinished = ignore;
  readonly event = ignore;
  readonly status = ignore;
  readonly note = ignore;
  readonly result = ignore;
  readonly log = ignore;
  readonly lastOutput = ignore;
  readonly end = ignore;

  writeAbove(write: () => void): void {
    write();
  }
}

function ignore(): void {
  // Not shown.
}
