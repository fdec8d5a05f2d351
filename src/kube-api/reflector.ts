import {pause} from '../base/async/pause.js';
import type {Clock, RandomSource} from '../base/clock.js';
import {hasErrno, SystemError} from '../base/errors.js';
import {isGone, isTooManyRequests, isVersionTooLarge} from './api-error.js';
import type {ListedObject, ListerWatcher, WatchEvent, WatchStart} from './list-watch.js';
import {ObjectStore} from './object-store.js';

/**
 * Initial delay in ms of the exponential back-off of client-go's reflector: it doubles, adds up to 100 % jitter, and
 * resets after a while.
 */
const INITIAL_BACK_OFF_MS = 800;
const MAX_BACK_OFF_MS = 30_000;
const BACK_OFF_RESET_MS = 120_000;
/** Minimum duration in ms of a watch without events; a shorter one counts as a failure. */
const MIN_WATCH_MS = 1000;

/** Options of {@link Reflector}. */
export interface ReflectorOptions<T> {
  readonly collection: ListerWatcher<T>;
  /** Called with all objects when they are first known and after each change; must not throw. */
  readonly onChange: (objects: readonly T[]) => void;
  /** Called with each failure that delays the next attempt; must not throw. */
  readonly onFailure: (error: unknown) => void;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * Follows a collection of the API server (client-go's reflector). Begins with a watch that sends all objects, or with a
 * list if the server does not support that. Resumes each watch at the last version, and begins again when the version is
 * too old or a watch fails.
 */
export class Reflector<T extends ListedObject> {
  readonly #options: ReflectorOptions<T>;
  #objects = new ObjectStore<T>();
  /** Last version that was seen; empty before the first. */
  #version = '';
  /** True if the server no longer has the last version, or does not have it yet. */
  #isVersionUnavailable = false;
  #delayMs = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  /** Follows the collection until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      try {
        await this.#listAndWatch(signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!isUnavailableVersion(error)) this.#options.onFailure(error);
      }
      await this.#backOff(signal);
    }
  }

  async #listAndWatch(signal: AbortSignal): Promise<never> {
    const isStreamed = await this.#streamObjects(signal);
    if (!isStreamed) await this.#list(signal);
    for (;;) {
      try {
        await this.#watch({resourceVersion: this.#version}, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!isRetriable(error)) throw error;
        this.#options.onFailure(error);
        await this.#backOff(signal);
      }
    }
  }

  /**
   * Watches with initial events until the watch ends. Resolves with false if the server did not send all objects
   * (watchList).
   */
  async #streamObjects(signal: AbortSignal): Promise<boolean> {
    for (;;) {
      const resourceVersion = this.#isVersionUnavailable ? '' : this.#version;
      try {
        await this.#watch({resourceVersion, sendInitialEvents: true}, signal);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof InitialEventsError)) throw error;
        const {cause} = error;
        if (isRetriable(cause)) throw cause;
        if (!isUnavailableVersion(cause)) return false;
        // The newest version is always available; a server that denies it is asked again later.
        if (resourceVersion === '') throw cause;
        this.#isVersionUnavailable = true;
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const {collection} = this.#options;
    const anyVersion = this.#version === '' ? '0' : this.#version;
    let list;
    try {
      list = await collection.list(this.#isVersionUnavailable ? '' : anyVersion, signal);
    } catch (error) {
      if (!isUnavailableVersion(error)) throw error;
      this.#isVersionUnavailable = true;
      list = await collection.list('', signal);
    }
    const objects = new ObjectStore<T>();
    objects.replace(list);
    this.#setAll(objects, list.resourceVersion);
  }

  /**
   * Applies a watch's events and resolves when it ends. Rejects with the error that ends the watch, as the cause of an
   * InitialEventsError while initial events are missing.
   */
  async #watch(start: WatchStart, signal: AbortSignal): Promise<void> {
    const {collection, clock} = this.#options;
    const startedAt = clock.monotonic();
    let events = 0;
    // Objects that the initial events have brought; the known ones remain until all have arrived.
    let initial = start.sendInitialEvents === true ? new ObjectStore<T>() : undefined;
    try {
      for await (const event of collection.watch(start, signal)) {
        signal.throwIfAborted();
        events += 1;
        if (initial === undefined) this.#apply(event);
        else if (endsInitialEvents(event)) {
          this.#setAll(initial, event.resourceVersion);
          initial = undefined;
        } else initial.apply(event);
      }
      signal.throwIfAborted();
      if (initial !== undefined) throw new SystemError('the watch ended before all objects were sent');
    } catch (error) {
      throw initial === undefined ? error : new InitialEventsError('no initial events', {cause: error});
    }
    if (events === 0 && clock.monotonic() - startedAt < MIN_WATCH_MS)
      throw new SystemError(
        'very short watch: Unexpected watch close - watch lasted less than a second and no items received',
      );
  }

  #apply(event: WatchEvent<T>): void {
    const {resourceVersion} = event.type === 'BOOKMARK' ? event : event.object.metadata;
    this.#version = laterOf(this.#version, resourceVersion);
    if (this.#objects.apply(event)) this.#emit();
  }

  #setAll(objects: ObjectStore<T>, version: string): void {
    this.#objects = objects;
    this.#version = version;
    this.#isVersionUnavailable = false;
    this.#emit();
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const {clock, random} = this.#options;
    const isReset = clock.monotonic() - this.#failedAt > BACK_OFF_RESET_MS;
    this.#delayMs = isReset ? INITIAL_BACK_OFF_MS : Math.min(this.#delayMs * 2, MAX_BACK_OFF_MS);
    this.#failedAt = clock.monotonic();
    await pause(clock, this.#delayMs * (1 + random() / 2 ** 32), signal);
  }

  #emit(): void {
    this.#options.onChange(this.#objects.items);
  }
}

function endsInitialEvents<T>(event: WatchEvent<T>): event is Extract<typeof event, {type: 'BOOKMARK'}> {
  return event.type === 'BOOKMARK' && event.endsInitialEvents === true;
}

/** A watch that ended before the server had sent all objects. */
class InitialEventsError extends Error {}

/** Reports whether the same watch is tried again, since the server does not answer at the moment (isWatchErrorRetriable). */
function isRetriable(error: unknown): boolean {
  return hasErrno(error, 'ECONNREFUSED') || isTooManyRequests(error);
}

function isUnavailableVersion(error: unknown): boolean {
  return isGone(error) || isVersionTooLarge(error);
}

/** Returns the later version, since events may arrive out of order. */
function laterOf(known: string, next = ''): string {
  const areNumbers = /^\d+$/.test(known) && /^\d+$/.test(next);
  if (areNumbers) return BigInt(next) > BigInt(known) ? next : known;
  return next === '' ? known : next;
}
