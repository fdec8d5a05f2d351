import type {FollowedObject} from './followed-object.js';
import {dataObjectKey, type DataObjectRef} from './object-reference.js';

interface Item {
  readonly followed: FollowedObject;
  /** UIDs of the pods that refer to the object. */
  readonly users: Set<string>;
}

/** Objects that pods refer to. Each is followed from its first user to its last. */
export class ReferencedObjects {
  readonly #follow: (ref: DataObjectRef) => FollowedObject;
  readonly #items = new Map<string, Item>();
  /** Keys of the objects that each pod refers to, by UID. */
  readonly #references = new Map<string, ReadonlySet<string>>();

  constructor(follow: (ref: DataObjectRef) => FollowedObject) {
    this.#follow = follow;
  }

  get(ref: DataObjectRef): FollowedObject | undefined {
    return this.#items.get(dataObjectKey(ref))?.followed;
  }

  /** UIDs of all pods that refer to objects. */
  get users(): readonly string[] {
    return [...this.#references.keys()];
  }

  /** Sets the objects that a pod refers to (RegisterPod). */
  register(uid: string, refs: readonly DataObjectRef[]): void {
    const before = this.#references.get(uid) ?? new Set<string>();
    const after = new Map(refs.map((ref) => [dataObjectKey(ref), ref]));
    this.#references.set(uid, new Set(after.keys()));
    for (const [key, ref] of after) if (!before.has(key)) this.#add(key, ref, uid);
    for (const key of before) if (!after.has(key)) this.#remove(key, uid);
  }

  /** Ends the references of a pod (UnregisterPod). */
  unregister(uid: string): void {
    for (const key of this.#references.get(uid) ?? []) this.#remove(key, uid);
    this.#references.delete(uid);
  }

  stopIdle(): void {
    for (const {followed} of this.#items.values()) followed.stopIfIdle();
  }

  #add(key: string, ref: DataObjectRef, uid: string): void {
    const known = this.#items.get(key);
    if (known === undefined) this.#items.set(key, {followed: this.#follow(ref), users: new Set([uid])});
    else {
      known.users.add(uid);
      known.followed.referenced();
    }
  }

  #remove(key: string, uid: string): void {
    const item = this.#items.get(key);
    item?.users.delete(uid);
    if (item?.users.size !== 0) return;
    item.followed.stop();
    this.#items.delete(key);
  }
}
