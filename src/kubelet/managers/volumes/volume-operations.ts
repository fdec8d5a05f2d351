import {abortable} from '../../../base/async/abortable.js';
import {anySignal} from '../../../base/async/any-signal.js';
import {sleepLong} from '../../../base/async/deadline.js';
import type {Clock} from '../../../base/clock.js';
import {SystemError} from '../../../base/errors.js';
import {nextRetryDelay} from './csi/retry-delay.js';
import {NoPluginError} from './no-plugin-error.js';

/** Delay before the driver of a volume is looked for again, in ms (workerBackOffPeriod). */
const NO_PLUGIN_DELAY_MS = 10_000;

/** The operation on a volume. */
interface Operation {
  /** Ends with the attempt in progress and never rejects; undefined if there is none. */
  running: Promise<void> | undefined;
  /** Time of the first attempt, in ms of the monotonic clock. */
  readonly requestedAt: number;
  /** Error of the last attempt. */
  error: unknown;
  /** Delay after the last failure, in ms; 0 before the first. */
  delayMs: number;
  /** End of that delay, in ms of the monotonic clock. */
  retryAt: number;
}

/**
 * Operations on the volumes of one pod. Each runs on its own, so that one that hangs delays no other; there is at most one for
 * each volume, which continues when a sync no longer waits for it. Failures are followed by a delay that doubles up to a maximum
 * (nestedpendingoperations.go).
 */
export class VolumeOperations {
  readonly #clock: Clock;
  readonly #operations = new Map<string, Operation>();
  #end = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isRunning(volume: string): boolean {
    return this.#operations.get(volume)?.running !== undefined;
  }

  /** Returns the error of the last attempt; undefined after a success, and before the end of the first attempt. */
  errorOf(volume: string): unknown {
    return this.#operations.get(volume)?.error;
  }

  /** Returns when a failed operation is due again, in ms of the monotonic clock; undefined if it has not failed. */
  retryAt(volume: string): number | undefined {
    const operation = this.#operations.get(volume);
    return operation?.error === undefined ? undefined : operation.retryAt;
  }

  /** Returns when the first attempt began, in ms of the monotonic clock; undefined if none has since the last success. */
  requestedAt(volume: string): number | undefined {
    return this.#operations.get(volume)?.requestedAt;
  }

  /** Starts an attempt, even before it is due. Its signal aborts with `end`. */
  start(volume: string, work: (signal: AbortSignal) => Promise<void>): void {
    const operation = this.#operations.get(volume) ?? {
      running: undefined,
      requestedAt: this.#clock.monotonic(),
      error: undefined,
      delayMs: 0,
      retryAt: 0,
    };
    this.#operations.set(volume, operation);
    operation.running = this.#attempt(volume, operation, work);
  }

  async #attempt(
    volume: string,
    operation: Operation,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const {signal} = this.#end;
    try {
      await work(signal);
      this.#operations.delete(volume);
    } catch (error) {
      operation.error = error;
      operation.delayMs =
        error instanceof SystemError && error.cause instanceof NoPluginError
          ? NO_PLUGIN_DELAY_MS
          : nextRetryDelay(operation.delayMs);
      operation.retryAt = this.#clock.monotonic() + operation.delayMs;
      if (signal.aborted) this.#operations.delete(volume);
    } finally {
      operation.running = undefined;
    }
  }

  /**
   * Resolves when the attempt in progress on one of these volumes ends, or at the time `until` of the monotonic clock. Rejects
   * with the signal's reason; all operations are ended before.
   */
  async next(volumes: readonly string[], until: number | undefined, signal: AbortSignal): Promise<void> {
    const running = volumes.flatMap((volume) => this.#operations.get(volume)?.running ?? []);
    const decided = new AbortController();
    using either = anySignal(signal, decided.signal);
    const sleeping =
      until === undefined ? [] : [sleepLong(this.#clock, until - this.#clock.monotonic(), either.signal)];
    try {
      await abortable(Promise.race([...running, ...sleeping]), signal);
    } catch (error) {
      await this.end();
      throw error;
    } finally {
      decided.abort();
    }
  }

  /** Ends all operations, and resolves when none is in progress. Later ones can be started. */
  async end(): Promise<void> {
    this.#end.abort();
    this.#end = new AbortController();
    await Promise.all([...this.#operations.values()].map(async ({running}) => running));
    this.#operations.clear();
  }
}
