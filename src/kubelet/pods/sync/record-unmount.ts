import {rethrowUnexpected} from '../../../base/errors.js';
import type {PodSyncer} from './pod-syncer.js';

/** What records the unmount of a pod's volumes. */
export type UnmountRecorder = Pick<PodSyncer, 'recordUnmount' | 'flush'>;

/** Removes the volumes of a pod with `remove`, and records that or its failure. Rejects like `remove`. */
export async function recordUnmountOf(syncer: UnmountRecorder, remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    rethrowUnexpected(error);
    syncer.recordUnmount(error);
    // A command that failed may be the last one that writes the history.
    await syncer.flush();
    throw error;
  }
  syncer.recordUnmount();
}
