import {hasEnded} from '../api/v1-status.js';
import {failuresOf, syncErrorText, type SyncResult} from './container/sync-result.js';
import type {SyncPass} from './pod-syncer.js';
import {NetworkNotReadyError, type SyncOutcome} from './pod-workers/worker-state.js';

/** After these the pod is to be synced again at once: nothing else tells of them. */
const TELLS_NOBODY: ReadonlySet<SyncResult['action']> = new Set(['RemoveContainer', 'ResizePodInPlace']);

/** What follows from a pass for the pod's worker: pure. */
export function outcomeOf({status: {phase}, results}: Pick<SyncPass, 'status' | 'results'>): SyncOutcome {
  const isTerminal = hasEnded(phase);
  const failures = failuresOf(results);
  if (failures.length === 0)
    // All containers are gone, to begin anew, or have what they were to get.
    return {isTerminal, again: results.some(({action}) => TELLS_NOBODY.has(action))};
  const retryTimes = failures.map(({failure}) => failure.retryAt).filter((time) => time !== undefined);
  const text = syncErrorText(failures);
  const isNetwork = failures.some(({failure}) => failure.reason === 'NetworkNotReady');
  return {
    isTerminal,
    error: isNetwork ? new NetworkNotReadyError(text) : new Error(text),
    retryAt: retryTimes.length === 0 ? undefined : Math.min(...retryTimes),
  };
}
