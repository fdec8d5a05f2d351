import type {Clock} from '../clock.js';

/** Tokens that are refilled at a constant rate up to a burst (client-go flowcontrol.NewTokenBucketRateLimiter). Starts full. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  /** Tokens left; negative if callers of take wait for theirs. */
  #tokens: number;
  /** Time at which `#tokens` was last updated, in ms of the monotonic clock. */
  #updatedAt: number;

  constructor({perSecond, burst}: {readonly perSecond: number; readonly burst: number}, clock: Clock) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#updatedAt = clock.monotonic();
  }

  /** Takes a token without waiting. Returns false if the bucket is empty. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /**
   * Takes a token, after waiting for it in the order of the calls. Rejects with the signal's reason, and takes none then.
   */
  async take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#refill();
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await this.#clock.sleep((-this.#tokens / this.#perSecond) * 1000, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    const elapsedMs = now - this.#updatedAt;
    this.#tokens = Math.min(this.#burst, this.#tokens + (elapsedMs / 1000) * this.#perSecond);
    this.#updatedAt = now;
  }
}
