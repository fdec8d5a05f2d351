import {decodeApiObject} from '../../../api/json/decode-api-object.js';
import {finishesWithin} from '../../../base/async/deadline.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {SystemError, type KcriError} from '../../../base/errors.js';
import {createCollection, Reflector, type ApiClient} from '../../../kube-api/index.js';
import type {FollowedObject} from './followed-object.js';
import {collectionPath, type DataObject, type DataObjectRef} from './object-reference.js';

/** Options of {@link WatchedObject}. */
export interface WatchedObjectOptions {
  readonly client: ApiClient;
  /** Time in ms after which the watch of an unused object ends. */
  readonly maxIdleMs: number;
  /** Called with each failure of the watch; must not throw. */
  readonly onFailure: (error: unknown) => void;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/** Time for which a pod waits for an object that is not known yet, in ms (objectCache.Get). */
const MAX_WAIT_MS = 1000;
/** Minimum duration of a watch, in seconds: longer than for other objects, since there are many. */
const MIN_WATCH_SECONDS = 30 * 60;

/**
 * An object that is watched while pods refer to it (watch_based_manager.go). An object that says that it is immutable is
 * not watched any longer. Unlike with a kubelet, the last known state remains in use while the API server is not
 * available.
 */
export class WatchedObject implements FollowedObject {
  readonly #ref: DataObjectRef;
  readonly #options: WatchedObjectOptions;
  /** Ends the watch; undefined if there is none. */
  #watch: AbortController | undefined;
  /** Resolves when the watch has delivered the object, or the fact that it does not exist. */
  #synced: PromiseWithResolve = createPromise();
  #isSynced = false;
  #usedAt: number;
  object: DataObject | undefined;

  /** Starts the watch. */
  constructor(ref: DataObjectRef, options: WatchedObjectOptions) {
    this.#ref = ref;
    this.#options = options;
    this.#usedAt = options.clock.monotonic();
    this.#start();
  }

  get failure(): KcriError | undefined {
    if (this.#isSynced || this.object !== undefined) return undefined;
    const resource = this.#ref.kind.toLowerCase();
    return new SystemError(`failed to sync ${resource} cache: timed out waiting for the condition`);
  }

  async load(signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    this.#usedAt = clock.monotonic();
    if (this.object?.immutable !== true) {
      if (this.#watch === undefined) this.#start();
      if (!this.#isSynced) await finishesWithin(this.#synced.promise, MAX_WAIT_MS, clock, signal);
    }
    if (this.object?.immutable === true) this.stop();
  }

  referenced(): void {
    // The watch tells all pods about changes.
  }

  stopIfIdle(): void {
    const {clock, maxIdleMs} = this.#options;
    if (this.#isSynced && clock.monotonic() - this.#usedAt > maxIdleMs) this.stop();
  }

  stop(): void {
    this.#watch?.abort();
    this.#watch = undefined;
    this.#isSynced = false;
    this.#synced = createPromise();
  }

  #start(): void {
    const {client, onFailure, clock, random} = this.#options;
    const {kind, name} = this.#ref;
    const watch = new AbortController();
    this.#watch = watch;
    const collection = createCollection<DataObject>({
      client,
      path: collectionPath(this.#ref),
      fieldSelector: `metadata.name=${name}`,
      minWatchSeconds: MIN_WATCH_SECONDS,
      decode: (value) => decodeApiObject(value, kind),
      random,
    });
    const reflector = new Reflector<DataObject>({
      collection,
      onChange: (objects) => {
        if (watch.signal.aborted) return;
        this.object = objects.find(({metadata}) => metadata.name === name);
        this.#isSynced = true;
        this.#synced.resolve();
      },
      onFailure,
      clock,
      random,
    });
    // It ends only when it is stopped.
    reflector.run(watch.signal).catch(() => undefined);
  }
}

interface PromiseWithResolve {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
}

function createPromise(): PromiseWithResolve {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return {promise, resolve};
}
