import type {Clock} from '../../base/clock.js';
import {StreamingError} from '../errors.js';

/** Something that is opened, used by one at a time, and may be used again. */
export interface Pooled {
  /** False when it can't be used any more. */
  readonly isOpen: boolean;
  close(): void;
}

/** What a pool is made of. */
export interface PoolOptions<T> {
  readonly open: () => Promise<T>;
  /** How many may be open at a time; who wants one more waits until one is given back. */
  readonly limit: number;
  /** How long an unused one is kept. */
  readonly idleMs: number;
  readonly clock: Clock;
}

/** One of a pool, and whether it has been used before. */
export interface Leased<T> {
  readonly item: T;
  readonly reused: boolean;
}

/** A pool of connections: opened when they are needed, kept a while for the next one, never shared. */
export class ConnectionPool<T extends Pooled> {
  readonly #options: PoolOptions<T>;
  /** The one that was given back last stands last, and goes first. */
  readonly #idle: {readonly item: T; readonly since: number}[] = [];
  readonly #leased = new Set<T>();
  readonly #waiting: {readonly go: () => void; readonly leave: (reason: Error) => void}[] = [];
  readonly #ended = new AbortController();
  #taken = 0;
  #reaping = false;

  constructor(options: PoolOptions<T>) {
    this.#options = options;
  }

  /** An idle connection, or a new one. Rejects when none can be opened, or with StreamingError after the end. */
  async lease(): Promise<Leased<T>> {
    await this.#place();
    try {
      this.#ended.signal.throwIfAborted();
      const idle = this.#takeIdle();
      const item = idle ?? (await this.#options.open());
      if (this.#ended.signal.aborted) item.close();
      this.#leased.add(item);
      return {item, reused: idle !== undefined};
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Gives a connection back for the next one. */
  release(item: T): void {
    if (!this.#leased.delete(item)) return;
    this.#keep(item);
    this.#leave();
  }

  /** Gives a connection back that nobody may use again. */
  discard(item: T): void {
    if (!this.#leased.delete(item)) return;
    item.close();
    this.#leave();
  }

  /** Closes all of them, those in use too. */
  close(): void {
    const reason = new StreamingError('the ports are not forwarded any more');
    this.#ended.abort(reason);
    for (const {item} of this.#idle.splice(0)) item.close();
    for (const item of this.#leased) item.close();
    for (const {leave} of this.#waiting.splice(0)) leave(reason);
  }

  async #place(): Promise<void> {
    if (this.#taken < this.#options.limit) {
      this.#taken += 1;
      return;
    }
    await new Promise<void>((go, leave) => this.#waiting.push({go, leave}));
  }

  /** The place goes to who waits for one. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next.go();
  }

  #takeIdle(): T | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop())
      if (last.item.isOpen) return last.item;
    return undefined;
  }

  #keep(item: T): void {
    if (this.#ended.signal.aborted || !item.isOpen) {
      item.close();
      return;
    }
    this.#idle.push({item, since: this.#options.clock.now()});
    // Ends only by the pool's own end.
    if (!this.#reaping) void this.#reap().catch(() => undefined);
  }

  /** Closes what has been idle for too long, for as long as anything is idle. */
  async #reap(): Promise<void> {
    const {clock, idleMs} = this.#options;
    this.#reaping = true;
    for (let [oldest] = this.#idle; oldest !== undefined; [oldest] = this.#idle) {
      await clock.sleep(Math.max(1, oldest.since + idleMs - clock.now()), this.#ended.signal);
      const expired = this.#idle.findIndex(({since}) => since + idleMs > clock.now());
      const stale = this.#idle.splice(0, expired === -1 ? this.#idle.length : expired);
      for (const {item} of stale) item.close();
    }
    this.#reaping = false;
  }
}
