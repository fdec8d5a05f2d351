import type {PodUid} from '../../../cri/index.js';
import type {PodLifecycleEvent} from '../../contract/pleg.js';

/** Notice of a PLEG, for logs and metrics. */
export type PlegNotice =
  /** Notice of a successful relist (pleg_relist_duration_seconds). */
  | {readonly kind: 'relisted'; readonly durationMs: number}
  | {readonly kind: 'relist-failed'; readonly error: unknown}
  /** Notice of a failed inspection; the next relist retries it. */
  | {readonly kind: 'inspection-failed'; readonly uid: PodUid; readonly error: unknown}
  /** Notice of a full event queue (pleg_discard_events); a PodSync event follows later. */
  | {readonly kind: 'event-discarded'; readonly event: PodLifecycleEvent}
  /** Notice that the PLEG relies on the event stream (evented_pleg_connection_success_count). */
  | {readonly kind: 'stream-trusted'}
  /** Notice of an event that arrived `delayMs` after it was created (evented_pleg_connection_latency_seconds). */
  | {readonly kind: 'event-received'; readonly delayMs: number}
  /**
   * Notice that the event stream ended or failed (evented_pleg_connection_error_count). It is retried after `retryMs`;
   * if that is undefined, after the runtime was unavailable.
   */
  | {readonly kind: 'stream-failed'; readonly error: unknown; readonly retryMs: number | undefined}
  /** Notice that a relist found a change that events missed. */
  | {readonly kind: 'event-missed'; readonly uid: PodUid};
