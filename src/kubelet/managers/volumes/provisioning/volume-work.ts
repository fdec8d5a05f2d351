import {finishesWithin} from '../../../../base/async/deadline.js';
import type {Clock} from '../../../../base/clock.js';
import type {ProvisionedVolume} from './provisioned-volume-store.js';

/** Work of a driver on a volume. */
interface RunningWork {
  /** Resolves with the record after it. */
  readonly work: Promise<ProvisionedVolume>;
  /** Time at which pods go on without it, in ms of the monotonic clock. */
  readonly waitUntil: number;
}

/**
 * Work of drivers on volumes, one at a time for each volume. Pods wait for it only for a limited time: a driver that is slow or hangs
 * keeps none from starting.
 */
export class VolumeWork {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #running = new Map<string, RunningWork>();

  /** `waitMs` is the time from the beginning of the work, in ms; Infinity to wait until it has ended. */
  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /**
   * Begins work on a volume unless it is in progress. Resolves with the record after it; undefined if it goes on. Rejects like the work,
   * and with the signal's reason.
   */
  async run(
    name: string,
    begin: () => Promise<ProvisionedVolume>,
    signal: AbortSignal,
  ): Promise<ProvisionedVolume | undefined> {
    const {work, waitUntil} = this.#running.get(name) ?? this.#start(name, begin);
    const hasEnded = await finishesWithin(work, waitUntil - this.#clock.monotonic(), this.#clock, signal);
    return hasEnded ? await work : undefined;
  }

  #start(name: string, begin: () => Promise<ProvisionedVolume>): RunningWork {
    const work = begin().finally(() => this.#running.delete(name));
    const running = {work, waitUntil: this.#clock.monotonic() + this.#waitMs};
    this.#running.set(name, running);
    return running;
  }
}
