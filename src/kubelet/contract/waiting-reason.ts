import type {SyncFailure} from './sync-result.js';

/** Reason and message of a container's last failed start: why it is not running. */
export interface WaitingReason {
  readonly reason: string;
  readonly message: string;
}

/** Back-off of a container: why and until when it is not started again. Times are in ms since the epoch. */
export interface ContainerBackOff {
  readonly reason: SyncFailure['reason'];
  readonly retryAt: number;
  /** Length of the whole back-off, in milliseconds. */
  readonly delayMs: number | undefined;
}
