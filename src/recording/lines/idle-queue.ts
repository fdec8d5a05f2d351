import {startTimer} from '../../base/async/timer.js';

/** Time without an event after which nothing is being relayed, in ms. */
const QUIET_MS = 2;
/** Time after which work no longer waits for quiet, in ms. */
const LONGEST_WAIT_MS = 1000;
/** Number of pieces that are done, after which their memory is given back. */
const MAX_DONE = 1024;
/** Bytes that waiting work may hold before it no longer waits for quiet. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface Work {
  readonly run: () => void;
  readonly bytes: number;
  readonly sinceMs: number;
}

/** Does work in its order while nothing else happens: a piece in each turn of the event loop. */
export class IdleQueue {
  #work: Work[] = [];
  /** Index of the next piece: shifting a long array would cost time in each turn. */
  #next = 0;
  #waitingBytes = 0;
  #eventAtMs = 0;
  #isScheduled = false;

  /** Reports that something happens, which work should not delay. */
  touch(): void {
    this.#eventAtMs = performance.now();
  }

  /** Adds work that holds memory of `bytes`. */
  push(run: () => void, bytes: number): void {
    this.#work.push({run, bytes, sinceMs: performance.now()});
    this.#waitingBytes += bytes;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    startTimer(QUIET_MS, this.#turn);
  }

  readonly #turn = (): void => {
    const next = this.#work[this.#next];
    if (next === undefined) {
      this.#isScheduled = false;
      return;
    }
    const now = performance.now();
    const isDue = now - next.sinceMs > LONGEST_WAIT_MS || this.#waitingBytes > MAX_WAITING_BYTES;
    if (isDue || now - this.#eventAtMs >= QUIET_MS) {
      this.#run(next);
      setImmediate(this.#turn);
    } else startTimer(QUIET_MS, this.#turn);
  };

  #run({run, bytes}: Work): void {
    this.#next += 1;
    this.#waitingBytes -= bytes;
    // Under steady load there is always work that waits.
    if (this.#next === this.#work.length || (this.#next >= MAX_DONE && 2 * this.#next > this.#work.length)) {
      this.#work = this.#work.slice(this.#next);
      this.#next = 0;
    }
    run();
  }

  /** Does all work that waits. */
  finish(): void {
    for (let next = this.#work[this.#next]; next !== undefined; next = this.#work[this.#next])
      this.#run(next);
  }
}
