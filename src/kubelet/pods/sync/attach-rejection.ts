import type {PodStatus} from '../../../api/types/v1-status.js';
import type {SyncResult} from '../../contract/sync-result.js';
import {AttachLimitError} from '../../contract/volumes/attach-limit-error.js';

/** Returns how a pod that the node cannot run changes its status, after a sync; undefined for any other (rejectPod). */
export function rejectionOf(results: readonly SyncResult[]): ((status: PodStatus) => PodStatus) | undefined {
  const rejected = results.find(({failure}) => failure?.reason === AttachLimitError.reason);
  if (rejected?.failure === undefined) return undefined;
  const {reason, message} = rejected.failure;
  return (status) => ({...status, phase: 'Failed', reason, message: `Pod was rejected: ${message}`});
}
