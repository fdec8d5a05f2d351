import {coalesce} from '../../../base/async/coalesce.js';
import {SystemError} from '../../../base/errors.js';
import type {PodUid} from '../../../cri/index.js';
import type {PodRef} from '../../contract/pod-ref.js';
import type {PodRecord, PodStore} from './pod-store.js';

/** Pods of a root directory that its daemon does not manage: those of `kcri sync` and of daemons on other runtimes. */
export class UnmanagedPods {
  readonly #store: Pick<PodStore, 'uids' | 'get'>;
  readonly #endpoint: string;
  /** Lists the records: pods that start at the same time share a listing. */
  readonly #list: () => Promise<readonly PodUid[]>;
  /** Records by UID; undefined for an unusable record. */
  readonly #known = new Map<PodUid, PodRecord | undefined>();

  /** Creates the set of unmanaged pods of the daemon that uses the runtime at `endpoint`. */
  constructor(store: Pick<PodStore, 'uids' | 'get'>, endpoint: string) {
    this.#store = store;
    this.#endpoint = endpoint;
    this.#list = coalesce(async () => await store.uids());
  }

  /**
   * Resolves with the pod that has the name or the UID, if there is one. Reads only new records. Rejects with
   * SystemError.
   */
  async conflictingPod(
    {uid, namespace, name}: PodRef,
    isOwn: (uid: PodUid) => boolean,
  ): Promise<PodRecord | undefined> {
    const uids = new Set(await this.#list());
    for (const known of this.#known.keys()) if (!uids.has(known)) this.#known.delete(known);
    for (const other of uids)
      if (!isOwn(other) && !this.#known.has(other)) this.#known.set(other, await this.#read(other));
    return [...this.#known.values()].find(
      (record) =>
        record !== undefined &&
        this.#isUnmanaged(record) &&
        (record.uid === uid || (record.namespace === namespace && record.name === name)),
    );
  }

  #isUnmanaged({manager, endpoint, removedAt}: PodRecord): boolean {
    return manager === undefined || (endpoint !== this.#endpoint && removedAt === undefined);
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
