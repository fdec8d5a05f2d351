import type {ListedObject} from './list-watch.js';
import {Reflector, type ReflectorOptions} from './reflector.js';

/** Options of {@link Informer}. */
export type InformerOptions<T> = Omit<ReflectorOptions<T>, 'onChange'>;

/** Last known objects of a collection of the API server (client-go's shared informer). */
export class Informer<T extends ListedObject> {
  readonly #options: InformerOptions<T>;
  /** Resolves when the objects are known. */
  readonly synced: Promise<void>;
  #setSynced: () => void = () => undefined;
  /** Last known objects; empty before they are known. */
  items: readonly T[] = [];
  /** Called after each change. */
  onChange: () => void = () => undefined;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#setSynced = resolve;
    });
  }

  /** Follows the collection until the signal aborts, then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const onChange = (items: readonly T[]): void => {
      this.items = items;
      this.#setSynced();
      this.onChange();
    };
    return await new Reflector<T>({...this.#options, onChange}).run(signal);
  }
}
