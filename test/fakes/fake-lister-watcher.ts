import {AsyncQueue} from '../../src/base/async/async-queue.js';
import type {
  ListedObject,
  ListerWatcher,
  ObjectList,
  WatchEvent,
  WatchStart,
} from '../../src/kube-api/list-watch.js';

type WatchStep<T> = WatchEvent<T> | Error | 'end';

/** A collection in memory that can be listed and watched. Tests control the watch events, including invalid ones. */
export class FakeListerWatcher<T extends ListedObject> implements ListerWatcher<T> {
  /** The requests in order: `stream 0` is a watch with initial events, `list 0`, `watch 7`. */
  readonly calls: string[] = [];
  /** Results of the next lists and streams. The last one is kept. */
  listResults: (ObjectList<T> | Error)[] = [{items: [], resourceVersion: '1'}];
  /** Errors of the next watches. */
  readonly watchErrors: Error[] = [];
  /** Error of watches with initial events; undefined if they are supported. */
  refusal: Error | undefined;
  readonly #events = new AsyncQueue<WatchStep<T>>();

  list(resourceVersion: string): Promise<ObjectList<T>> {
    this.calls.push(`list ${resourceVersion}`);
    return this.#nextList();
  }

  async *watch(
    {resourceVersion, sendInitialEvents = false}: WatchStart,
    signal: AbortSignal,
  ): AsyncGenerator<WatchEvent<T>> {
    this.calls.push(`${sendInitialEvents ? 'stream' : 'watch'} ${resourceVersion}`);
    const error = sendInitialEvents ? this.refusal : this.watchErrors.shift();
    if (error !== undefined) throw error;
    if (sendInitialEvents) yield* initialEvents(await this.#nextList());
    for (;;) {
      const step = await this.#events.next(signal);
      if (step === 'end') return;
      if (step instanceof Error) throw step;
      yield step;
    }
  }

  /** Sends a watch event, or ends the watch, with an error if one is given. */
  emit(...steps: readonly WatchStep<T>[]): void {
    for (const step of steps) this.#events.push(step);
  }

  #nextList(): Promise<ObjectList<T>> {
    const result = this.listResults.length > 1 ? this.listResults.shift() : this.listResults[0];
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result!);
  }
}

function* initialEvents<T>({items, resourceVersion}: ObjectList<T>): Generator<WatchEvent<T>> {
  for (const object of items) yield {type: 'ADDED', object};
  yield {type: 'BOOKMARK', resourceVersion, endsInitialEvents: true};
}
