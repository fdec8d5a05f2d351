import {SystemError} from '../../base/errors.js';
import type {PodUid} from '../../cri/index.js';
import type {PodRef} from '../container/pod-ref.js';
import type {PodRecord, PodStore} from './pod-store.js';

/** The pods of a root directory that its daemon doesn't keep: those of `kcri sync`, and of daemons on other runtimes. */
export class OtherPods {
  readonly #store: Pick<PodStore, 'uids' | 'get'>;
  readonly #endpoint: string;
  /** Undefined for a record that can't be used. */
  readonly #known = new Map<PodUid, PodRecord | undefined>();

  /** `endpoint`: the daemon's runtime. */
  constructor(store: Pick<PodStore, 'uids' | 'get'>, endpoint: string) {
    this.#store = store;
    this.#endpoint = endpoint;
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
        this.#isKept(record) &&
        (record.uid === uid || (record.namespace === namespace && record.name === name)),
    );
  }

  #isKept({manager, endpoint, goneAt}: PodRecord): boolean {
    return manager === undefined || (endpoint !== this.#endpoint && goneAt === undefined);
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
