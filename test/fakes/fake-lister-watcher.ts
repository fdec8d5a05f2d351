import {AsyncQueue} from '../../src/base/async/async-queue.js';
import {
  ApiStatusError,
  type ListedObject,
  type ListerWatcher,
  type ObjectList,
  type WatchEvent,
} from '../../src/kubelet/managers/sources/list-watch.js';

type Told<T> = WatchEvent<T> | 'end';

/** A collection in memory that can be listed and watched; a test says what a watch tells, also what it shouldn't. */
export class FakeListerWatcher<T extends ListedObject> implements ListerWatcher<T> {
  /** `list 0`, `watch 7`: what was asked for, in order. */
  readonly calls: string[] = [];
  /** What the next lists answer; the last one stays. */
  listResults: (ObjectList<T> | ApiStatusError)[] = [{items: [], resourceVersion: '1'}];
  /** Thrown by the next watches in place of telling anything. */
  readonly watchErrors: ApiStatusError[] = [];
  readonly #events = new AsyncQueue<Told<T>>();

  list(resourceVersion: string): Promise<ObjectList<T>> {
    this.calls.push(`list ${resourceVersion}`);
    const answer = this.listResults.length > 1 ? this.listResults.shift() : this.listResults[0];
    return answer instanceof ApiStatusError ? Promise.reject(answer) : Promise.resolve(answer!);
  }

  async *watch(resourceVersion: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    this.calls.push(`watch ${resourceVersion}`);
    const refusal = this.watchErrors.shift();
    if (refusal !== undefined) throw refusal;
    for (;;) {
      const told = await this.#events.next(signal);
      if (told === 'end') return;
      yield told;
    }
  }

  /** The watch tells this. */
  emit(...told: readonly Told<T>[]): void {
    for (const one of told) this.#events.push(one);
  }
}
