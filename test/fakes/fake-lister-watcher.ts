import {AsyncQueue} from '../../src/base/async/async-queue.js';
import {ApiError} from '../../src/kube-api/api-error.js';
import type {ListedObject, ListerWatcher, ObjectList, WatchEvent} from '../../src/kube-api/list-watch.js';

type WatchStep<T> = WatchEvent<T> | ApiError | 'end';

/** A collection in memory that can be listed and watched. Tests control the watch events, including invalid ones. */
export class FakeListerWatcher<T extends ListedObject> implements ListerWatcher<T> {
  /** The requests in order: `list 0`, `watch 7`. */
  readonly calls: string[] = [];
  /** Results of the next lists. The last one is kept. */
  listResults: (ObjectList<T> | ApiError)[] = [{items: [], resourceVersion: '1'}];
  /** Errors of the next watches. */
  readonly watchErrors: ApiError[] = [];
  readonly #events = new AsyncQueue<WatchStep<T>>();

  list(resourceVersion: string): Promise<ObjectList<T>> {
    this.calls.push(`list ${resourceVersion}`);
    const result = this.listResults.length > 1 ? this.listResults.shift() : this.listResults[0];
    return result instanceof ApiError ? Promise.reject(result) : Promise.resolve(result!);
  }

  async *watch(resourceVersion: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    this.calls.push(`watch ${resourceVersion}`);
    const error = this.watchErrors.shift();
    if (error !== undefined) throw error;
    for (;;) {
      const step = await this.#events.next(signal);
      if (step === 'end') return;
      if (step instanceof ApiError) throw step;
      yield step;
    }
  }

  /** Sends a watch event, or ends the watch, with an error if one is given. */
  emit(...steps: readonly WatchStep<T>[]): void {
    for (const step of steps) this.#events.push(step);
  }
}
