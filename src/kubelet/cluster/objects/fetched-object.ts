import {decodeApiObject} from '../../../api/json/decode-api-object.js';
import {coalesce} from '../../../base/async/coalesce.js';
import {abortable} from '../../../base/async/abortable.js';
import type {Clock} from '../../../base/clock.js';
import {messageOf, rethrowUnexpected, SystemError, type KcriError} from '../../../base/errors.js';
import {isNotFound, type ApiClient} from '../../../kube-api/index.js';
import type {FollowedObject} from './followed-object.js';
import {collectionPath, type DataObject, type DataObjectRef} from './object-reference.js';

/** Options of {@link FetchedObject}. */
export interface FetchedObjectOptions {
  readonly client: ApiClient;
  /** Returns the time in ms for which the object is not read again; 0 to read it on each use. */
  readonly ttlMs: () => number;
  readonly clock: Clock;
}

/**
 * An object that is read when a pod uses it (cache_based_manager.go). Unlike with a kubelet, the last known state
 * remains in use while the API server is not available, also without a cache.
 */
export class FetchedObject implements FollowedObject {
  readonly #options: FetchedObjectOptions;
  readonly #stopped = new AbortController();
  readonly #fetch: () => Promise<void>;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  object: DataObject | undefined;
  failure: KcriError | undefined;

  constructor(ref: DataObjectRef, options: FetchedObjectOptions) {
    this.#options = options;
    const {client, clock} = options;
    this.#fetch = coalesce(async () => {
      const path = `${collectionPath(ref)}/${ref.name}`;
      try {
        this.object = decodeApiObject(
          await client.request({method: 'GET', path}, this.#stopped.signal),
          ref.kind,
        );
      } catch (error) {
        if (!isNotFound(error)) {
          rethrowUnexpected(error);
          if (this.object === undefined) this.failure = new SystemError(messageOf(error), {cause: error});
          return;
        }
        this.object = undefined;
      }
      this.failure = undefined;
      this.#fetchedAt = clock.monotonic();
    });
  }

  async load(signal: AbortSignal): Promise<void> {
    const {clock, ttlMs} = this.#options;
    if (clock.monotonic() - this.#fetchedAt < ttlMs()) return;
    await abortable(this.#fetch(), signal);
  }

  referenced(): void {
    this.#fetchedAt = Number.NEGATIVE_INFINITY;
  }

  stopIfIdle(): void {
    // Nothing is requested while the object is not used.
  }

  stop(): void {
    this.#stopped.abort();
  }
}
