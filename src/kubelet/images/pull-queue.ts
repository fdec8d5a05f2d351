import type {Clock} from '../../base/clock.js';

/** Lets so many pulls through at a time, in the order in which they came; the kubelet's default is one (serializeImagePulls). */
export class PullQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `atOnce` may be Infinity. */
  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Does the work when its turn has come. Rejects with the signal's reason when that aborts first. */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(signal);
    try {
      return await work();
    } finally {
      this.#pass();
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      this.#waiting.push(begin);
      signal.addEventListener('abort', giveUp, {once: true});
    });
  }

  #pass(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** Tokens that come back at a steady rate (client-go flowcontrol.NewTokenBucketRateLimiter); it begins full. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  readonly #clock: Clock;
  #tokens: number;
  #countedAt: number;

  constructor({perSecond, burst}: {readonly perSecond: number; readonly burst: number}, clock: Clock) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#clock = clock;
    this.#tokens = burst;
    this.#countedAt = clock.now();
  }

  /** Takes a token; false when there is none. */
  tryTake(): boolean {
    const now = this.#clock.now();
    const since = Math.max(now - this.#countedAt, 0);
    this.#tokens = Math.min(this.#burst, this.#tokens + (since / 1000) * this.#perSecond);
    this.#countedAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
