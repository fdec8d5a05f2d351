import type {Clock} from '../clock.js';
import {anySignal} from './any-signal.js';
import {pause} from './pause.js';

/** A sleep that a wake-up ends early. A wake-up while nothing sleeps ends the next sleep at once. */
export class WakeableSleep {
  readonly #clock: Pick<Clock, 'sleep'>;
  #woken = new AbortController();

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.#clock = clock;
  }

  wake(): void {
    this.#woken.abort();
  }

  /** Pauses for `ms`; resolves earlier after a wake-up, or when the signal aborts. */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    using either = anySignal(signal, this.#woken.signal);
    await pause(this.#clock, ms, either.signal).catch(() => undefined); // woken
    this.#woken = new AbortController();
  }
}
