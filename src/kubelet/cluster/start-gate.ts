import type {Clock} from '../../base/clock.js';
import type {StartQueue} from '../contract/cluster/cluster-link.js';

/** Time for which requests wait for the pods that start, in ms. */
const PATIENCE_MS = 10_000;

/**
 * Holds back requests that nobody waits for while pods start: each takes processor time from the pods, here and in an API
 * server on the same machine. After ten seconds it holds back nothing, until no pod has waited for its turn.
 */
export class StartGate {
  readonly #starts: StartQueue;
  readonly #clock: Clock;
  /** Time since which the gate has seen pods wait, in ms since the epoch. */
  #busySince: number | undefined;

  constructor(starts: StartQueue, clock: Clock) {
    this.#starts = starts;
    this.#clock = clock;
  }

  /** True while requests are held back. */
  get isClosed(): boolean {
    return this.#remainingMs() > 0;
  }

  /** Resolves when requests are not held back. Rejects with the signal's reason. */
  async whenOpen(signal: AbortSignal): Promise<void> {
    const ms = this.#remainingMs();
    if (ms === 0) return;
    const idle = new AbortController();
    void this.#starts.whenIdle().then(() => {
      idle.abort();
    });
    await this.#clock.sleep(ms, AbortSignal.any([signal, idle.signal])).catch(() => undefined); // woken
    signal.throwIfAborted();
  }

  #remainingMs(): number {
    const now = this.#clock.now();
    if (!this.#starts.isBusy) {
      this.#busySince = undefined;
      return 0;
    }
    // If the clock was set back, the time counts from now.
    this.#busySince = Math.min(this.#busySince ?? now, now);
    return Math.max(0, this.#busySince + PATIENCE_MS - now);
  }
}
