import type {PodStatus} from '../../../api/types/v1-status.js';
import type {ParsedFiles} from '../../../base/fs/file-cache.js';
import type {PodUid} from '../../../cri/index.js';
import type {RecordedEvent} from '../history/recorded-event.js';
import {PodStore, type PodRecord} from './pod-store.js';

/** Rejection of a pod at admission. */
export interface PodRejection {
  readonly status: PodStatus;
  readonly events: readonly RecordedEvent[];
}

/** Pod that the node did not admit. Nothing of it exists but this record, which commands show. */
export interface RejectedPod extends PodRecord {
  readonly rejection: PodRejection;
}

/** Store of the pods that the node did not admit, one file each: `<rootDir>/kcri/rejected/<uid>.json`. */
export class RejectedPodStore {
  readonly #store: PodStore;

  /** Creates the store of a root directory; `files` reads the files. */
  constructor(rootDir: string, files?: ParsedFiles) {
    this.#store = new PodStore(rootDir, 'rejected', files);
  }

  /** Resolves with all rejected pods, oldest first; unreadable files are omitted. Rejects with SystemError. */
  async list(): Promise<readonly RejectedPod[]> {
    const {records} = await this.#store.list();
    return (records as readonly (PodRecord & Partial<RejectedPod>)[]).filter(isRejectedPod);
  }

  /** Stores a rejected pod instead of earlier ones of the same name. Rejects with SystemError. */
  async put(rejected: RejectedPod): Promise<void> {
    await this.deleteByName(rejected);
    await this.#store.put(rejected);
  }

  /** Removes the rejected pod with the UID, if there is one. Rejects with SystemError. */
  async delete(uid: PodUid): Promise<void> {
    if ((await this.#store.uids()).includes(uid)) await this.#store.delete(uid);
  }

  /** Removes the rejected pods with the name. Rejects with SystemError. */
  async deleteByName({namespace, name}: Pick<PodRecord, 'namespace' | 'name'>): Promise<void> {
    for (const rejected of await this.list())
      if (rejected.namespace === namespace && rejected.name === name) await this.#store.delete(rejected.uid);
  }

  /**
   * Removes the pods that a daemon has rejected: a new daemon admits those of manifests again, and the API server stores the
   * phase of others. Rejects with SystemError.
   */
  async deleteOfKubelet(): Promise<void> {
    for (const {uid, manager} of await this.list()) if (manager === 'kubelet') await this.#store.delete(uid);
  }
}

function isRejectedPod(record: PodRecord & Partial<RejectedPod>): record is RejectedPod {
  return typeof record.rejection?.status === 'object' && Array.isArray(record.rejection.events);
}
