import {NO_HISTORY, type PodHistories} from '../events/pod-history.js';
import type {KeptHistories} from '../local-pods-options.js';

/** What was known of the pods before counts for a plan as it does for a sync; nothing is added to it. */
export function readHistories(histories: PodHistories): KeptHistories {
  return {
    of: (uid) => ({...NO_HISTORY, lastKnown: async () => await histories.lastKnown(uid)}),
    lastKnown: async (uid) => await histories.lastKnown(uid),
    delete: async () => undefined,
  };
}
