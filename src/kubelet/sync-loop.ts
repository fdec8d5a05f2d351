import {AsyncQueue} from '../base/async-queue.js';
import type {Clock} from '../base/clock.js';
import type {Logger} from '../base/logger.js';
import {formatMilliseconds} from '../format/duration.js';
import type {PodLifecycleEvent} from './container/pleg.js';
import type {PodUpdate} from './container/pod-update.js';
import type {ProbeOutcome} from './container/probe-results.js';

/** What the sync loop is woken by. */
export type LoopEvent =
  | {readonly kind: 'config'; readonly update: PodUpdate}
  | {readonly kind: 'pleg'; readonly event: PodLifecycleEvent}
  | {readonly kind: 'probe'; readonly result: ProbeOutcome}
  /** What pods refer to has changed. */
  | {readonly kind: 'objects'}
  | {readonly kind: 'sync'}
  | {readonly kind: 'housekeeping'};

/** What the sync loop does with what it hears (kubelet.go SyncHandler). */
export interface SyncLoopHandler {
  /** Resolves when all of the update is in the hands of workers, or with the signal. */
  handleConfig(update: PodUpdate, signal: AbortSignal): Promise<void>;
  handlePleg(event: PodLifecycleEvent): void;
  handleProbe(result: ProbeOutcome): void;
  handleObjectsChanged(): void;
  /** The pods whose time has come. */
  handleSync(): void;
  handleHousekeeping(): Promise<void>;
  /** Why nothing can be done now; empty when all is well. */
  errors(): readonly string[];
}

/** The kubelet's periods. */
const SYNC_MS = 1000;
const HOUSEKEEPING_MS = 2000;
/** So many lifecycle events may wait (plegChannelCapacity). */
const PLEG_CAPACITY = 1000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A round of housekeeping that takes longer is told of. */
const SLOW_HOUSEKEEPING_MS = 1000;

/**
 * The one stream of everything that a kubelet reacts to, and the loop that reacts (kubelet.go syncLoop). While the
 * runtime is down, events wait.
 */
export class SyncLoop {
  readonly #handler: SyncLoopHandler;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #queue = new AsyncQueue<LoopEvent>();
  readonly #waitingTicks = new Set<LoopEvent['kind']>();
  #waitingPleg = 0;
  #lastActiveAt: number;
  /** Pods are being admitted, which may have to wait for others to end, but not for ever. */
  #isAdmitting = false;

  constructor(handler: SyncLoopHandler, clock: Clock, logger: Logger) {
    this.#handler = handler;
    this.#clock = clock;
    this.#logger = logger;
    this.#lastActiveAt = clock.now();
  }

  /** When the loop last began or ended an iteration; now while it waits for good reason. */
  get lastActiveAt(): number {
    return this.#isAdmitting ? this.#clock.now() : this.#lastActiveAt;
  }

  config(update: PodUpdate): void {
    this.#queue.push({kind: 'config', update});
  }

  objectsChanged(): void {
    this.#queue.push({kind: 'objects'});
  }

  probe(result: ProbeOutcome): void {
    this.#queue.push({kind: 'probe', result});
  }

  /** False when too many wait already: the event is lost, and whoever keeps the state has to tell of it again. */
  pleg(event: PodLifecycleEvent): boolean {
    if (this.#waitingPleg >= PLEG_CAPACITY) return false;
    this.#waitingPleg += 1;
    return this.#queue.push({kind: 'pleg', event});
  }

  /** Until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    this.#logger.info('Starting kubelet main sync loop');
    void this.#tick('sync', SYNC_MS, signal);
    void this.#tick('housekeeping', HOUSEKEEPING_MS, signal);
    let pauseMs = FIRST_PAUSE_MS;
    try {
      while (!signal.aborted) {
        const errors = this.#handler.errors();
        if (errors.length > 0) {
          this.#logger.error(listed(errors), 'Skipping pod synchronization');
          await this.#clock.sleep(pauseMs, signal);
          pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
          continue;
        }
        pauseMs = FIRST_PAUSE_MS;
        const event = await this.#queue.next(signal);
        this.#lastActiveAt = this.#clock.now();
        await this.iterate(event, signal);
        this.#lastActiveAt = this.#clock.now();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Handles one event (syncLoopIteration). */
  async iterate(event: LoopEvent, signal: AbortSignal): Promise<void> {
    this.#waitingTicks.delete(event.kind);
    switch (event.kind) {
      case 'config':
        this.#isAdmitting = true;
        await this.#handler.handleConfig(event.update, signal).finally(() => {
          this.#isAdmitting = false;
        });
        return;
      case 'pleg':
        this.#waitingPleg -= 1;
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
        await this.#housekeeping();
    }
  }

  async #housekeeping(): Promise<void> {
    const startedAt = this.#clock.now();
    await this.#handler.handleHousekeeping();
    const actual = this.#clock.now() - startedAt;
    if (actual > SLOW_HOUSEKEEPING_MS)
      this.#logger.error('housekeeping took too long', 'Housekeeping took longer than expected', {
        expected: formatMilliseconds(SLOW_HOUSEKEEPING_MS),
        actual: formatMilliseconds(actual),
      });
  }

  /** A tick that nobody has taken yet isn't repeated. */
  async #tick(kind: 'sync' | 'housekeeping', everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(everyMs, signal).catch(() => undefined); // the end
      if (this.#waitingTicks.has(kind)) continue;
      this.#waitingTicks.add(kind);
      this.#queue.push({kind});
    }
  }
}

/** Several errors in the words of Go's aggregates. */
function listed(errors: readonly string[]): string {
  const [first = '', ...others] = errors;
  return others.length === 0 ? first : `[${errors.join(', ')}]`;
}
