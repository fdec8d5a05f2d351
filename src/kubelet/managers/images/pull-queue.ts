import {onAbort} from '../../../base/async/abort-callbacks.js';

/**
 * Runs a limited number of image pulls at a time, first come, first served (images/puller.go). The kubelet's default
 * limit is one (serializeImagePulls).
 */
export class PullQueue {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `maxParallel` may be Infinity. */
  constructor(maxParallel: number) {
    this.#free = maxParallel;
  }

  /** Runs `pull` as soon as a slot is free. Rejects with the signal's reason if that aborts before. */
  async run<T>(pull: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#acquire(signal);
    try {
      return await pull();
    } finally {
      this.#release();
    }
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const forget = onAbort(signal, () => {
        this.#waiting.splice(this.#waiting.indexOf(onFree), 1);
        reject(signal.reason as Error);
      });
      const onFree = (): void => {
        forget();
        resolve();
      };
      this.#waiting.push(onFree);
    });
  }

  #release(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
