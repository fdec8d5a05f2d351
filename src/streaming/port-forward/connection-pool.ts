import type {Clock} from '../../base/clock.js';
import {StreamingError} from '../session/errors.js';

/** Item of a pool, which has one user at a time and may be reused. */
export interface Poolable {
  /** True if the item can still be used. */
  readonly isOpen: boolean;
  close(): void;
}

/** Options of a ConnectionPool. */
export interface PoolOptions<T> {
  readonly open: () => Promise<T>;
  /** Maximum number of open items; further leases wait for a release. */
  readonly limit: number;
  /** Time after which an idle item is closed, in ms. */
  readonly idleMs: number;
  readonly clock: Clock;
}

/** Item of a pool, and whether it was used before. */
export interface LeasedItem<T> {
  readonly item: T;
  readonly reused: boolean;
}

/** Pool of connections, opened on demand, retained for reuse until an idle timeout, and never shared. */
export class ConnectionPool<T extends Poolable> {
  readonly #options: PoolOptions<T>;
  /** Idle items, the most recently released last; the last one is leased first. */
  readonly #idle: {readonly item: T; readonly since: number}[] = [];
  readonly #leased = new Set<T>();
  readonly #waiting: {readonly proceed: () => void; readonly cancel: (reason: Error) => void}[] = [];
  readonly #ended = new AbortController();
  #usedSlots = 0;
  #reaping = false;

  constructor(options: PoolOptions<T>) {
    this.#options = options;
  }

  /**
   * Leases an idle connection or opens a new one. Rejects if none can be opened, or with StreamingError after the pool
   * was closed.
   */
  async lease(): Promise<LeasedItem<T>> {
    await this.#acquireSlot();
    try {
      this.#ended.signal.throwIfAborted();
      const idle = this.#takeIdle();
      const item = idle ?? (await this.#options.open());
      if (this.#ended.signal.aborted) item.close();
      this.#leased.add(item);
      return {item, reused: idle !== undefined};
    } catch (error) {
      this.#releaseSlot();
      throw error;
    }
  }

  /** Returns a connection for reuse. */
  release(item: T): void {
    if (!this.#leased.delete(item)) return;
    this.#addIdle(item);
    this.#releaseSlot();
  }

  /** Closes a connection that must not be reused. */
  discard(item: T): void {
    if (!this.#leased.delete(item)) return;
    item.close();
    this.#releaseSlot();
  }

  /** Closes all connections, including those in use. */
  close(): void {
    const reason = new StreamingError('port forwarding has stopped');
    this.#ended.abort(reason);
    for (const {item} of this.#idle.splice(0)) item.close();
    for (const item of this.#leased) item.close();
    for (const {cancel} of this.#waiting.splice(0)) cancel(reason);
  }

  async #acquireSlot(): Promise<void> {
    if (this.#usedSlots < this.#options.limit) {
      this.#usedSlots += 1;
      return;
    }
    await new Promise<void>((proceed, cancel) => this.#waiting.push({proceed, cancel}));
  }

  /** Passes the slot to the next waiting lease. */
  #releaseSlot(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#usedSlots -= 1;
    else next.proceed();
  }

  #takeIdle(): T | undefined {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop())
      if (last.item.isOpen) return last.item;
    return undefined;
  }

  #addIdle(item: T): void {
    if (this.#ended.signal.aborted || !item.isOpen) {
      item.close();
      return;
    }
    this.#idle.push({item, since: this.#options.clock.monotonic()});
    // Rejects only if the pool is closed.
    if (!this.#reaping) void this.#reap().catch(() => undefined);
  }

  /** Closes expired idle connections until none is idle. */
  async #reap(): Promise<void> {
    const {clock, idleMs} = this.#options;
    this.#reaping = true;
    for (let [oldest] = this.#idle; oldest !== undefined; [oldest] = this.#idle) {
      await clock.sleep(Math.max(1, oldest.since + idleMs - clock.monotonic()), this.#ended.signal);
      const expired = this.#idle.findIndex(({since}) => since + idleMs > clock.monotonic());
      const stale = this.#idle.splice(0, expired === -1 ? this.#idle.length : expired);
      for (const {item} of stale) item.close();
    }
    this.#reaping = false;
  }
}
