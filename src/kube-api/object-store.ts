import type {ListedObject, ObjectList, WatchEvent} from './list-watch.js';

/** Objects of a collection, updated by lists and watch events; tolerates duplicate, late and reordered events. */
export class ObjectStore<T extends ListedObject> {
  #objects = new Map<string, T>();
  /** Versions at which objects were deleted, until no older events can arrive. */
  readonly #deleted = new Map<string, bigint>();

  get items(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Replaces all objects. */
  replace({items}: ObjectList<T>): void {
    this.#objects = new Map(items.map((object) => [keyOf(object), object]));
    this.#deleted.clear();
  }

  /** Applies an event and returns whether it changed the objects. */
  apply(event: WatchEvent<T>): boolean {
    if (event.type === 'BOOKMARK') {
      this.#forgetDeleted(versionOf(event.resourceVersion));
      return false;
    }
    const key = keyOf(event.object);
    const version = versionOf(event.object.metadata.resourceVersion);
    const known = this.#objects.get(key);
    const newest = known === undefined ? this.#deleted.get(key) : versionOf(known.metadata.resourceVersion);
    if (newest !== undefined && version !== undefined && version <= newest) return false;
    if (event.type === 'DELETED') {
      if (version !== undefined) this.#deleted.set(key, version);
      return this.#objects.delete(key);
    }
    this.#deleted.delete(key);
    this.#objects.set(key, event.object);
    return true;
  }

  #forgetDeleted(until: bigint | undefined): void {
    if (until === undefined) return;
    for (const [key, version] of this.#deleted) if (version <= until) this.#deleted.delete(key);
  }
}

function keyOf({metadata}: ListedObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** Parses a version; versions of a collection are increasing numbers. Others are undefined and always accepted. */
function versionOf(resourceVersion = ''): bigint | undefined {
  return /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : undefined;
}
