import {SystemError} from '../../base/errors.js';
import type {PodUid} from '../../cri/index.js';
import type {PodRef} from '../container/pod-ref.js';
import type {PodRecord, PodStore} from './pod-store.js';

/** The pods of a root directory that its daemon doesn't keep: those of `kcri sync`. */
export class OtherPods {
  readonly #store: Pick<PodStore, 'uids' | 'get'>;
  /** Undefined for a record that can't be used. */
  readonly #known = new Map<PodUid, PodRecord | undefined>();

  constructor(store: Pick<PodStore, 'uids' | 'get'>) {
    this.#store = store;
  }

  /** The one that has the name or the UID. Only records that are new to it are read. Rejects with SystemError. */
  async inTheWayOf(
    {uid, namespace, name}: PodRef,
    isOwn: (uid: PodUid) => boolean,
  ): Promise<PodRecord | undefined> {
    const uids = new Set(await this.#store.uids());
    for (const known of this.#known.keys()) if (!uids.has(known)) this.#known.delete(known);
    for (const other of uids)
      if (!isOwn(other) && !this.#known.has(other)) this.#known.set(other, await this.#read(other));
    return [...this.#known.values()].find(
      (record) =>
        record !== undefined &&
        record.manager === undefined &&
        (record.uid === uid || (record.namespace === namespace && record.name === name)),
    );
  }

  async #read(uid: PodUid): Promise<PodRecord | undefined> {
    try {
      return await this.#store.get(uid);
    } catch (error) {
      if (error instanceof SystemError) return undefined;
      throw error;
    }
  }
}
