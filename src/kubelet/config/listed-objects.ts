import type {Listed, ObjectList, WatchEvent} from './list-watch.js';

/** The objects of a collection as its lists and watches tell of them, whatever comes twice, late or out of order. */
export class ListedObjects<T extends Listed> {
  #objects = new Map<string, T>();
  /** The versions at which objects went, until nothing older can come. */
  readonly #gone = new Map<string, bigint>();

  get items(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Takes a list for all there is. */
  replace({items}: ObjectList<T>): void {
    this.#objects = new Map(items.map((object) => [keyOf(object), object]));
    this.#gone.clear();
  }

  /** Takes a change; false when it says nothing new. */
  apply(event: Exclude<WatchEvent<T>, {readonly type: 'ERROR'}>): boolean {
    if (event.type === 'BOOKMARK') {
      this.#forgetGone(versionOf(event.resourceVersion));
      return false;
    }
    const key = keyOf(event.object);
    const version = versionOf(event.object.metadata.resourceVersion);
    const known = this.#objects.get(key);
    const newest = known === undefined ? this.#gone.get(key) : versionOf(known.metadata.resourceVersion);
    if (newest !== undefined && version !== undefined && version <= newest) return false;
    if (event.type === 'DELETED') {
      if (version !== undefined) this.#gone.set(key, version);
      return this.#objects.delete(key);
    }
    this.#gone.delete(key);
    this.#objects.set(key, event.object);
    return true;
  }

  #forgetGone(until: bigint | undefined): void {
    if (until === undefined) return;
    for (const [key, version] of this.#gone) if (version <= until) this.#gone.delete(key);
  }
}

function keyOf({metadata}: Listed): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** Versions of one collection are numbers that grow; undefined for one that isn't, which is believed. */
function versionOf(resourceVersion = ''): bigint | undefined {
  return /^\d+$/.test(resourceVersion) ? BigInt(resourceVersion) : undefined;
}
