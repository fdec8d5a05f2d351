import {anySignal} from '../../base/async/any-signal.js';
import {runInBackground} from '../../base/async/background-work.js';
import type {Clock} from '../../base/clock.js';
import type {StartQueue} from '../contract/cluster/cluster-link.js';

/** Maximum delay of a request, in ms. */
const PATIENCE_MS = 10_000;

/**
 * Delays events and the statuses of pending pods while other pods wait for their turn to start. Each request takes processor
 * time that the pods need, in the kubelet and in an API server on the same machine. Ten seconds after the first pod began to
 * wait, nothing is delayed any more, until no pod waits.
 */
export class StartGate {
  readonly #starts: StartQueue;
  readonly #clock: Clock;
  /** Time since which the gate has seen pods wait, in ms of the monotonic clock. */
  #busySince: number | undefined;

  constructor(starts: StartQueue, clock: Clock) {
    this.#starts = starts;
    this.#clock = clock;
  }

  /** True while requests are delayed. */
  get isClosed(): boolean {
    return this.#remainingMs() > 0;
  }

  /** Resolves when requests are no longer delayed. Rejects with the signal's reason. */
  async whenOpen(signal: AbortSignal): Promise<void> {
    const ms = this.#remainingMs();
    if (ms === 0) return;
    const idle = new AbortController();
    const woken = this.#starts.whenIdle().then(() => {
      idle.abort();
    });
    runInBackground('start gate', woken);
    using either = anySignal(signal, idle.signal);
    await this.#clock.sleep(ms, either.signal).catch(() => undefined); // woken
    signal.throwIfAborted();
  }

  #remainingMs(): number {
    const now = this.#clock.monotonic();
    if (!this.#starts.isBusy) {
      this.#busySince = undefined;
      return 0;
    }
    this.#busySince ??= now;
    return Math.max(0, this.#busySince + PATIENCE_MS - now);
  }
}
