import {NO_HISTORY, type PodHistories} from '../pods/history/pod-history.js';
import type {PodHistoryStore} from '../pods/registry/pod-registry-options.js';

/** Returns histories that read the last known state of the pods, as a sync does, but record nothing. */
export function readOnlyHistories(histories: PodHistories): PodHistoryStore {
  return {
    of: (uid) => ({...NO_HISTORY, lastKnown: async () => await histories.lastKnown(uid)}),
    lastKnown: async (uid) => await histories.lastKnown(uid),
    delete: async () => undefined,
  };
}
