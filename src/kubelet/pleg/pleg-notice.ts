import type {PodUid} from '../../cri/index.js';
import type {PodLifecycleEvent} from '../container/pleg.js';

/** What a PLEG has to say of itself, for logs and metrics. */
export type PlegNotice =
  /** The runtime was listed (pleg_relist_duration_seconds). */
  | {readonly kind: 'relisted'; readonly durationMs: number}
  | {readonly kind: 'relist-failed'; readonly error: unknown}
  /** A pod couldn't be read; it is tried again with the next relist. */
  | {readonly kind: 'look-failed'; readonly uid: PodUid; readonly error: unknown}
  /** Nobody had room for the event (pleg_discard_events); its pod is told of again later, as PodSync. */
  | {readonly kind: 'event-discarded'; readonly event: PodLifecycleEvent}
  /** The runtime's events are relied on (evented_pleg_connection_success_count). */
  | {readonly kind: 'stream-trusted'}
  /** An event came so long after what it tells of (evented_pleg_connection_latency_seconds). */
  | {readonly kind: 'event-heard'; readonly delayMs: number}
  /** The runtime's events ended, or there are none (evented_pleg_connection_error_count); `retryMs` until the next try;
   * without it there is none until the runtime was away. */
  | {readonly kind: 'stream-failed'; readonly error: unknown; readonly retryMs: number | undefined}
  /** A relist has found what the runtime's events hadn't told of. */
  | {readonly kind: 'event-missed'; readonly uid: PodUid};
