import {onAbort} from './abort-callbacks.js';
import {runInBackground} from './background-work.js';
import type {Clock} from '../clock.js';

/** Limits of a CallLimiter. */
export interface CallLimits {
  /** Calls that may run at a time. */
  readonly concurrency: number;
  /** While calls wait, a call that takes longer than this or twice this stops counting, in ms: calls that hang hold up no others. */
  readonly patienceMs: number;
}

interface WaitingCall {
  readonly rank: number;
  readonly begin: () => void;
}

/** Runs a limited number of calls at a time. Of the waiting calls, the first one with the lowest rank is next. */
export class CallLimiter {
  readonly #limits: CallLimits;
  readonly #clock: Clock;
  /** The running calls that count, oldest first. */
  readonly #counted = new Set<symbol>();
  /** Ordered by rank, then by arrival. */
  readonly #waiting: WaitingCall[] = [];
  /** Ends the wait for calls that hang; undefined while no call waits. */
  #watch: AbortController | undefined;
  /** Called when no call waits. */
  readonly #onIdle: (() => void)[] = [];

  constructor(limits: CallLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Runs the call when its turn comes and returns its result. Rejects with the signal's reason if it aborts while waiting. */
  async run<T>(rank: number, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const id = Symbol('call');
    if (this.#counted.size < this.#limits.concurrency) this.#counted.add(id);
    else await this.#turn(id, rank, signal);
    try {
      return await call();
    } finally {
      this.#counted.delete(id);
      this.#beginWaiting();
    }
  }

  /** Runs work like `run`, but its turn ends as soon as the work calls `release`, while it goes on. */
  async runUntilReleased<T>(
    rank: number,
    work: (release: () => void) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const {promise} = await this.run(
      rank,
      async () => {
        let release = (): void => undefined;
        const released = new Promise<void>((resolve) => {
          release = resolve;
        });
        const promise = work(release);
        await Promise.race([promise, released]);
        return {promise};
      },
      signal,
    );
    return await promise;
  }

  /** True while calls wait for their turn. */
  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Resolves when no call waits for its turn. */
  async whenIdle(): Promise<void> {
    if (this.isBusy) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  async #turn(id: symbol, rank: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        forget?.();
        this.#counted.add(id);
        resolve();
      };
      const waiting: WaitingCall = {rank, begin};
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        this.#beginWaiting();
        reject(signal?.reason as Error);
      };
      const forget = signal && onAbort(signal, abort);
      const next = this.#waiting.findIndex((other) => other.rank > rank);
      this.#waiting.splice(next === -1 ? this.#waiting.length : next, 0, waiting);
      if (this.#watch === undefined) runInBackground('call limiter', this.#watchHanging());
    });
  }

  /** Begins waiting calls while there is room. */
  #beginWaiting(): void {
    while (this.#counted.size < this.#limits.concurrency && this.#waiting.length > 0)
      this.#waiting.shift()?.begin();
    if (this.#waiting.length > 0) return;
    this.#watch?.abort();
    this.#watch = undefined;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /** While calls wait, stops counting those that take too long. */
  async #watchHanging(): Promise<void> {
    const {signal} = (this.#watch = new AbortController());
    try {
      for (;;) {
        const running = [...this.#counted];
        await this.#clock.sleep(this.#limits.patienceMs, signal);
        for (const id of running) this.#counted.delete(id);
        this.#beginWaiting();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
