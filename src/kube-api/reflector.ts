import type {Clock, RandomSource} from '../base/clock.js';
import {isGone} from './api-error.js';
import type {ListedObject, ListerWatcher} from './list-watch.js';
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
  /** Called with all objects after the first list and after each change; must not throw. */
  readonly onChange: (objects: readonly T[]) => void;
  /** Called with each failure that delays the next attempt; must not throw. */
  readonly onFailure: (error: unknown) => void;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * Follows a collection of the API server (client-go's reflector). Lists once and then watches, resuming each watch at
 * the last version; lists again when the version is too old or a watch fails.
 */
export class Reflector<T extends ListedObject> {
  readonly #options: ReflectorOptions<T>;
  readonly #objects = new ObjectStore<T>();
  #delayMs = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
  }

  /** Follows the collection until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const {collection, onFailure} = this.#options;
    // The first list may be of any version; later lists must not be older than the last version.
    let version = '0';
    for (;;) {
      try {
        const list = await collection.list(version, signal);
        version = list.resourceVersion;
        this.#objects.replace(list);
        this.#emit();
        for (;;) version = await this.#watch(version, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (isGone(error)) version = '';
        else onFailure(error);
      }
      await this.#backOff(signal);
    }
  }

  /** Applies a watch's events and resolves with its last version. Rejects with the error that ends the watch. */
  async #watch(from: string, signal: AbortSignal): Promise<string> {
    const {collection, clock} = this.#options;
    const startedAt = clock.now();
    let [version, events] = [from, 0];
    for await (const event of collection.watch(from, signal)) {
      signal.throwIfAborted();
      events += 1;
      version = laterOf(
        version,
        event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion,
      );
      if (this.#objects.apply(event)) this.#emit();
    }
    signal.throwIfAborted();
    if (events === 0 && clock.now() - startedAt < MIN_WATCH_MS)
      throw new Error(
        'very short watch: Unexpected watch close - watch lasted less than a second and no items received',
      );
    return version;
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const {clock, random} = this.#options;
    const isReset = clock.now() - this.#failedAt > BACK_OFF_RESET_MS;
    this.#delayMs = isReset ? INITIAL_BACK_OFF_MS : Math.min(this.#delayMs * 2, MAX_BACK_OFF_MS);
    this.#failedAt = clock.now();
    await clock.sleep(this.#delayMs * (1 + random() / 2 ** 32), signal);
  }

  #emit(): void {
    this.#options.onChange(this.#objects.items);
  }
}

/** Returns the later version, since events may arrive out of order. */
function laterOf(known: string, next = ''): string {
  const areNumbers = /^\d+$/.test(known) && /^\d+$/.test(next);
  if (areNumbers) return BigInt(next) > BigInt(known) ? next : known;
  return next === '' ? known : next;
}
