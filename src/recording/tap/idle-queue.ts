import {startTimer} from '../../base/async/timer.js';
import type {TapClock} from './connection-tap.js';
import type {ReadQueue} from './relay-tap.js';

/** Time without an event after which nothing is being relayed, in ms. */
const QUIET_MS = 2;
/** Time after which work no longer waits for quiet, in ms. */
const LONGEST_WAIT_MS = 1000;
/** Time of the work in one turn of the event loop, in ms: what arrives meanwhile waits for it. */
const SLICE_MS = 0.5;
/** Number of pieces that are done, after which their memory is given back. */
const MAX_DONE = 1024;
/** Bytes that waiting work may hold. More are worked off at once, and what is relayed waits. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

interface Work {
  readonly run: () => void;
  readonly bytes: number;
  readonly nowMs: number;
  readonly sinceMs: number;
}

/**
 * Does work in its order while nothing else happens, in slices of the event loop's turns. Work that has waited for a second is
 * done with all that waits behind it, so that it disturbs few calls of a steady load.
 */
export class IdleQueue implements ReadQueue {
  readonly copies = false;
  readonly #clock: TapClock;
  #work: Work[] = [];
  /** Index of the next piece: shifting a long array would cost time in each turn. */
  #next = 0;
  #waitingBytes = 0;
  #eventAtMs = 0;
  /** Number of pieces that no longer wait for quiet. */
  #due = 0;
  #isScheduled = false;
  #running: Work | undefined;

  constructor(clock: TapClock) {
    this.#clock = clock;
  }

  /** Time at which the work that is being done was added; outside of it, the time. */
  readonly clock: TapClock = {
    now: () => this.#running?.nowMs ?? this.#clock.now(),
    monotonic: () => this.#running?.sinceMs ?? this.#clock.monotonic(),
  };

  touch(): void {
    this.#eventAtMs = this.#clock.monotonic();
  }

  push(run: () => void, bytes: number): void {
    this.#work.push({run, bytes, nowMs: this.#clock.now(), sinceMs: this.#clock.monotonic()});
    this.#waitingBytes += bytes;
    if (this.#running === undefined) while (this.#waitingBytes > MAX_WAITING_BYTES) this.#runNext();
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
    const startMs = this.#clock.monotonic();
    if (startMs - next.sinceMs > LONGEST_WAIT_MS) this.#due = this.#work.length - this.#next;
    if (this.#due > 0 || startMs - this.#eventAtMs >= QUIET_MS) {
      while (this.#runNext() && this.#clock.monotonic() - startMs < SLICE_MS);
      setImmediate(this.#turn);
    } else startTimer(QUIET_MS, this.#turn);
  };

  /** Does the next piece. Returns false if there is none. */
  #runNext(): boolean {
    const next = this.#work[this.#next];
    if (next === undefined) return false;
    this.#next += 1;
    this.#due = Math.max(0, this.#due - 1);
    this.#waitingBytes -= next.bytes;
    // Under steady load there is always work that waits.
    if (this.#next === this.#work.length || (this.#next >= MAX_DONE && 2 * this.#next > this.#work.length)) {
      this.#work = this.#work.slice(this.#next);
      this.#next = 0;
    }
    this.#running = next;
    next.run();
    this.#running = undefined;
    return true;
  }

  /** Never waits: if there is too much, `push` has done it. */
  awaitRoom(): boolean {
    return false;
  }

  finish(): void {
    while (this.#runNext());
  }
}
