import type {PodStatus} from '../../../api/types/v1-status.js';
import type {Workload} from '../../../api/types/v1-workloads.js';

/**
 * Least time that a pod must be ready, in ms: a process with an invalid configuration exits sooner. Times of conditions
 * have no fractions of a second.
 */
const MIN_READY_MS = 2000;

/** Returns the time that a pod of a workload must be ready to count as available, in ms. */
export function minReadyMsOf(workload: Workload): number {
  const {minReadySeconds = 0} =
    'spec' in workload && 'minReadySeconds' in workload.spec ? workload.spec : {minReadySeconds: 0};
  return Math.max(MIN_READY_MS, minReadySeconds * 1000);
}

/**
 * Returns the time from which a pod is available, in ms since the epoch: when it has been ready for long enough
 * (IsPodAvailable). Undefined while it is not ready.
 */
export function availableAtMs({conditions = []}: PodStatus, minReadyMs: number): number | undefined {
  const ready = conditions.find(({type, status}) => type === 'Ready' && status === 'True');
  const since = Date.parse(ready?.lastTransitionTime ?? '');
  return ready === undefined || Number.isNaN(since) ? undefined : since + minReadyMs;
}
