/** Number of bytes that wait to be shown at which output is held back, and at which it continues. */
const MAX_WAITING_BYTES = 512 * 1024;
const MIN_WAITING_BYTES = 64 * 1024;

/** Asks the sender to wait while output arrives faster than it is shown: a terminal discards what is too much. */
export class OutputFlow {
  readonly #setPaused: (isPaused: boolean) => void;
  #waitingBytes = 0;
  #isPaused = false;

  constructor(setPaused: (isPaused: boolean) => void) {
    this.#setPaused = setPaused;
  }

  /** Counts bytes that have arrived, or, if negative, that are shown. */
  add(bytes: number): void {
    this.#waitingBytes += bytes;
    const isPaused = this.#waitingBytes > (this.#isPaused ? MIN_WAITING_BYTES : MAX_WAITING_BYTES);
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#setPaused(isPaused);
  }
}
