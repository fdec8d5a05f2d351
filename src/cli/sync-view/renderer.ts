import type {PodStatus} from '../../api/v1-status.js';
import type {CriCall, PodEvent, PodOutcome, PodRef} from '../../kubelet/index.js';
import type {View} from '../in-place.js';

/** Shows what happens to pods while they are synced. */
export interface SyncRenderer extends View {
  callBegun(pod: PodRef, call: Pick<CriCall, 'method' | 'request'>): void;
  callEnded(pod: PodRef, call: CriCall): void;
  event(pod: PodRef, event: PodEvent): void;
  status(pod: PodRef, status: PodStatus): void;
  /** Something about the pod that is neither: a lock that is waited for, a pod that was removed. */
  note(pod: PodRef, text: string): void;
  outcome(outcome: PodOutcome, exitCode: number): void;
  /** Lines of a container's log that came together, without their newlines. */
  log(pod: PodRef, container: string, lines: readonly string[]): void;
  /** Leaves the terminal as it should be; nothing is shown afterwards. */
  end(): void;
}

/** The container that an event is about, empty for the pod itself. */
export function containerOf({fieldPath}: PodEvent): string {
  return /\{(.*)\}$/.exec(fieldPath ?? '')?.[1] ?? '';
}

/**
 * A warning that a person wants to see. That there is no cluster DNS is no news on a machine without a cluster.
 */
export function isNews({type, reason}: PodEvent): boolean {
  return type === 'Warning' && reason !== 'MissingClusterDNS';
}

/** Shows nothing: for pipes whose reader wants the result alone. */
export class SilentRenderer implements SyncRenderer {
  readonly callBegun = ignore;
  readonly callEnded = ignore;
  readonly event = ignore;
  readonly status = ignore;
  readonly note = ignore;
  readonly outcome = ignore;
  readonly log = ignore;
  readonly end = ignore;

  aside(write: () => void): void {
    write();
  }
}

function ignore(): void {
  // Nobody watches.
}
