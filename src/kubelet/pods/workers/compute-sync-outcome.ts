import {hasEnded} from '../../../api/types/v1-status.js';
import {failuresOf, syncErrorText, type SyncResult} from '../../contract/sync-result.js';
import type {SyncPass} from '../sync/pod-syncer.js';
import {NetworkNotReadyError, type SyncOutcome} from './worker-state.js';

/** Actions without a lifecycle event, after which the pod is synced again at once. */
const ACTIONS_WITHOUT_EVENT: ReadonlySet<SyncResult['action']> = new Set([
  'RemoveContainer',
  'ResizePodInPlace',
  'CheckPodSandbox',
]);

/** Returns the outcome of a sync pass for the pod's worker. Pure. */
export function computeSyncOutcome({
  status: {phase},
  results,
  refreshAt,
}: Pick<SyncPass, 'status' | 'results' | 'refreshAt'>): SyncOutcome {
  const isTerminal = hasEnded(phase);
  const hasActed = results.length > 0;
  const failures = failuresOf(results);
  if (failures.length === 0)
    // All containers were removed for a restart, or were resized, or the sandbox may be ending.
    return {
      ...{isTerminal, hasActed},
      syncAgain: results.some(({action}) => ACTIONS_WITHOUT_EVENT.has(action)),
      retryAt: refreshAt,
      settlesAt: results.find(({settlesAt}) => settlesAt !== undefined)?.settlesAt,
    };
  const retryTimes = failures.map(({failure}) => failure.retryAt).filter((time) => time !== undefined);
  const text = syncErrorText(failures);
  const isNetwork = failures.some(({failure}) => failure.reason === 'NetworkNotReady');
  return {
    ...{isTerminal, hasActed},
    error: isNetwork ? new NetworkNotReadyError(text) : new Error(text),
    retryAt: retryTimes.length === 0 ? undefined : Math.min(...retryTimes),
  };
}
