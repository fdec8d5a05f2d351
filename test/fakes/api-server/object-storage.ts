/** An object as JSON. */
export interface StoredObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly finalizers?: readonly string[];
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** A change of an object. */
export interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly collection: string;
  readonly object: StoredObject;
}

/** The objects of an API server with their versions, and the changes that watches replay (etcd and the watch cache). */
export class ObjectStorage {
  readonly #objects = new Map<string, StoredObject>();
  #changes: Change[] = [];
  /** Listeners by collection: changes of thousands of watched nodes reach only those they concern. */
  readonly #listeners = new Map<string, Set<(change: Change) => void>>();
  #version = 100;
  #oldest = 0;

  get version(): number {
    return this.#version;
  }

  /** Returns the object at `collection/name`, in which the collection includes the namespace. */
  get(path: string): StoredObject | undefined {
    return this.#objects.get(path);
  }

  /** Returns the objects of a collection; that of all namespaces is `/api/v1/pods`. */
  list(collection: string): readonly StoredObject[] {
    return [...this.#objects].flatMap(([path, object]) => (isIn(collection, path) ? [object] : []));
  }

  put(path: string, object: Omit<StoredObject, 'metadata'> & {readonly metadata: object}): StoredObject {
    this.#version += 1;
    const stored = {
      ...object,
      metadata: {...object.metadata, resourceVersion: String(this.#version)},
    } as StoredObject;
    const type = this.#objects.has(path) ? 'MODIFIED' : 'ADDED';
    this.#objects.set(path, stored);
    this.#record({version: this.#version, type, collection: path, object: stored});
    return stored;
  }

  delete(path: string): void {
    const object = this.#objects.get(path);
    if (object === undefined) return;
    this.#version += 1;
    this.#objects.delete(path);
    const metadata = {...object.metadata, resourceVersion: String(this.#version)};
    this.#record({version: this.#version, type: 'DELETED', collection: path, object: {...object, metadata}});
  }

  /** Returns a function that puts all objects and the version back as they are now, without changes. */
  backUp(): () => void {
    const [objects, version] = [new Map(this.#objects), this.#version];
    return () => {
      this.#objects.clear();
      for (const [path, object] of objects) this.#objects.set(path, object);
      this.#changes = [];
      this.#version = version;
      this.#oldest = version;
    };
  }

  /** Forgets the changes so far: a watch from an older version ends with 410. */
  compact(): void {
    this.#changes = [];
    this.#oldest = this.#version;
  }

  /** Calls `listener` with the changes of a collection after a version; undefined if the version is too old. */
  watch(collection: string, after: number, listener: (change: Change) => void): (() => void) | undefined {
    if (after < this.#oldest) return undefined;
    const relevant = (change: Change): boolean =>
      change.version > after && isIn(collection, change.collection);
    for (const change of this.#changes.filter(relevant)) listener(change);
    const listeners = this.#listeners.get(collection) ?? new Set();
    const later = (change: Change): void => {
      if (change.version > after) listener(change);
    };
    this.#listeners.set(collection, listeners.add(later));
    return () => listeners.delete(later);
  }

  #record(change: Change): void {
    this.#changes.push(change);
    for (const collection of collectionsOf(change.collection))
      for (const listener of this.#listeners.get(collection) ?? []) listener(change);
  }
}

/** Reports whether an object belongs to a collection, with or without namespace. */
function isIn(collection: string, path: string): boolean {
  return collectionsOf(path).has(collection);
}

/** Returns the collections of an object, with and without namespace. */
function collectionsOf(path: string): ReadonlySet<string> {
  return new Set([path.replace(/\/[^/]+$/, ''), withoutNamespace(path)]);
}

function withoutNamespace(path: string): string {
  return path.replace(/\/namespaces\/[^/]+/, '').replace(/\/[^/]+$/, '');
}
