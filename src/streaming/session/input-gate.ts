/**
 * Number of bytes that the pipes of a process take at least: a runtime cannot be stuck with less input. A pipe has 64
 * KiB, but small writes do not fill its pages.
 */
export const FREE_INPUT = 32 * 1024;

/** Sends a part of the input. `done` is called when the system has taken it. */
type Send = (part: Buffer, done: () => void) => void;

/** Holds back input after the first FREE_INPUT bytes until `until` has resolved. */
export class InputGate {
  readonly #until: () => Promise<void>;
  #free = FREE_INPUT;
  #isOpen = false;

  constructor(until: () => Promise<void>) {
    this.#until = until;
  }

  /** Sends a chunk when it may be sent. One chunk is passed at a time. */
  pass(chunk: Buffer, send: Send, done: () => void): void {
    if (this.#isOpen || chunk.length <= this.#free) {
      this.#free -= chunk.length;
      send(chunk, done);
      return;
    }
    const [now, rest] = [chunk.subarray(0, this.#free), chunk.subarray(this.#free)];
    send(now, () => {
      void this.#until().then(() => {
        this.#isOpen = true;
        send(rest, done);
      });
    });
  }
}
