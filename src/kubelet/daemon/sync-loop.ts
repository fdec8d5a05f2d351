import {pause} from '../../base/async/pause.js';
import {runInBackground} from '../../base/async/background-work.js';
import type {Clock} from '../../base/clock.js';
import {formatAggregate} from '../../base/errors.js';
import type {FileLogger, Logger} from '../../base/logger.js';
import {formatMilliseconds} from '../../format/duration.js';
import type {PodLifecycleEvent} from '../contract/pleg.js';
import type {PodUpdate} from '../contract/pod-update.js';
import type {ProbeUpdate} from '../contract/probe-results.js';
import type {SyncLoopEvent, SyncLoopQueue} from './sync-loop-queue.js';

/** Handler of the events of the sync loop (kubelet.go SyncHandler). */
export interface SyncLoopHandler {
  /** Resolves when the workers have received the whole update, or when the signal aborts. */
  handleConfig(update: PodUpdate, signal: AbortSignal): Promise<void>;
  handlePleg(event: PodLifecycleEvent): void;
  handleProbe(result: ProbeUpdate): void;
  handleObjectsChanged(): void;
  /** Syncs the pods that are due. */
  handleSync(): void;
  /** Starts what is due; must not take long. */
  handleHousekeeping(): void;
  /** Returns the reasons why no pod can be synced now; empty when the runtime is healthy. */
  errors(): readonly string[];
}

/** Dependencies of SyncLoop. */
export interface SyncLoopOptions {
  readonly queue: SyncLoopQueue;
  readonly handler: SyncLoopHandler;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for an error of an event, after it was logged. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Periods of the kubelet's tickers (syncTicker, housekeepingPeriod). */
const SYNC_MS = 1000;
const HOUSEKEEPING_MS = 2000;
/** Limits of the exponential back-off while the runtime has errors (kubelet.go syncLoop). */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Duration from which housekeeping is logged as slow (housekeepingWarningDuration). */
const SLOW_HOUSEKEEPING_MS = 1000;

/**
 * Handles queued events one after the other (kubelet.go syncLoop). While the runtime has errors, events stay queued.
 */
export class SyncLoop {
  readonly #queue: SyncLoopQueue;
  readonly #handler: SyncLoopHandler;
  readonly #clock: Clock;
  readonly #logger: FileLogger;
  readonly #onError: ((error: unknown) => void) | undefined;
  #lastActiveAt: number;
  /**
   * True if pods are being admitted. Admission may wait a long time for preempted pods to stop; the loop does not count
   * as stalled then.
   */
  #isAdmitting = false;

  constructor({queue, handler, clock, logger, onError}: SyncLoopOptions) {
    this.#onError = onError;
    this.#queue = queue;
    this.#handler = handler;
    this.#clock = clock;
    this.#logger = logger.forFile('sync-loop.ts');
    this.#lastActiveAt = clock.monotonic();
  }

  /** Start or end of the last iteration, in ms of the monotonic clock; the current time while pods are being admitted. */
  get lastActiveAt(): number {
    return this.#isAdmitting ? this.#clock.monotonic() : this.#lastActiveAt;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#logger.info('Starting kubelet main sync loop');
    runInBackground('sync ticker', this.#tick('sync', SYNC_MS, signal));
    runInBackground('housekeeping ticker', this.#tick('housekeeping', HOUSEKEEPING_MS, signal));
    let pauseMs = FIRST_PAUSE_MS;
    try {
      while (!signal.aborted) {
        const errors = this.#handler.errors();
        if (errors.length > 0) {
          this.#logger.error(formatAggregate(errors), 'Skipping pod synchronization');
          await pause(this.#clock, pauseMs, signal);
          pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
          continue;
        }
        pauseMs = FIRST_PAUSE_MS;
        const event = await this.#queue.next(signal);
        this.#lastActiveAt = this.#clock.monotonic();
        await this.#handleSafely(event, signal);
        this.#lastActiveAt = this.#clock.monotonic();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Handles one event. An error of it does not end the loop, since every other pod depends on it. */
  async #handleSafely(event: SyncLoopEvent, signal: AbortSignal): Promise<void> {
    try {
      await this.#handle(event, signal);
    } catch (error) {
      signal.throwIfAborted();
      this.#logger.error(error, 'Failed to handle event of the sync loop', {event: event.kind});
      this.#onError?.(error);
    }
  }

  /** Handles one event (syncLoopIteration). */
  async #handle(event: SyncLoopEvent, signal: AbortSignal): Promise<void> {
    switch (event.kind) {
      case 'config':
        this.#isAdmitting = true;
        await this.#handler.handleConfig(event.update, signal).finally(() => {
          this.#isAdmitting = false;
        });
        return;
      case 'pleg':
        this.#handler.handlePleg(event.event);
        return;
      case 'probe':
        this.#handler.handleProbe(event.result);
        return;
      case 'objects':
        this.#handler.handleObjectsChanged();
        return;
      case 'sync':
        this.#handler.handleSync();
        return;
      case 'housekeeping':
        this.#housekeeping();
    }
  }

  #housekeeping(): void {
    const startedAt = this.#clock.monotonic();
    this.#handler.handleHousekeeping();
    const actual = this.#clock.monotonic() - startedAt;
    if (actual > SLOW_HOUSEKEEPING_MS)
      this.#logger.error('housekeeping took too long', 'Housekeeping took longer than expected', {
        expected: formatMilliseconds(SLOW_HOUSEKEEPING_MS),
        actual: formatMilliseconds(actual),
      });
  }

  async #tick(kind: 'sync' | 'housekeeping', everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#clock, everyMs, signal).catch(() => undefined); // aborted
      this.#queue.tick(kind);
    }
  }
}
