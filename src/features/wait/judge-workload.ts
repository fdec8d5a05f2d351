import type {Pod} from '../../api/types/v1-pod.js';
import type {Workload} from '../../api/types/v1-workloads.js';
import {UsageError} from '../../base/errors.js';
import type {WorkloadSummary} from '../workloads/compute-workloads.js';
import type {Judgement, WantedCondition} from './judge-readiness.js';

/** Conditions of workloads, by their lower-case names, and the kind that has them. */
const CONDITIONS: Readonly<Record<string, Workload['kind']>> = {
  available: 'Deployment',
  complete: 'Job',
  failed: 'Job',
};

/** State of a workload as its pods on this node show it. */
export interface SeenWorkload extends Pick<WorkloadSummary, 'active' | 'ready'> {
  readonly pods: readonly Pod[];
  /** True if a process still creates pods of the Job. */
  readonly isRun: boolean;
  /** Result that a kubelet has recorded for a Job. */
  readonly result?: 'complete' | 'failed' | undefined;
}

/** Reports whether only workloads have the condition. */
export function isWorkloadCondition({type}: Pick<WantedCondition, 'type'>): boolean {
  return Object.hasOwn(CONDITIONS, type.toLowerCase());
}

/** Throws UsageError if workloads of the kind do not have the condition. */
export function checkWorkloadCondition(kind: Workload['kind'], {type}: Pick<WantedCondition, 'type'>): void {
  const expected = CONDITIONS[type.toLowerCase()];
  if (expected === undefined || expected === kind) return;
  throw new UsageError(`a ${kind} has no condition "${type}"`, {
    hint: `${type} is a condition of a ${expected}; for others, wait for a condition of their pods, such as Ready`,
  });
}

/**
 * Returns whether a workload has a condition; undefined stands for one without pods. A Deployment is available if all its pods are
 * ready. A Job has ended if no pod is active and no process creates further ones: the pod that ended last tells how.
 */
export function judgeWorkload(seen: SeenWorkload | undefined, {type, value}: WantedCondition): Judgement {
  if (seen === undefined) return {kind: 'failed', reason: 'it has no pods any more'};
  const {active, ready, pods} = seen;
  const wanted = value.toLowerCase() === 'true';
  if (type.toLowerCase() === 'available') {
    const isAvailable = active > 0 && ready === active;
    return isAvailable === wanted
      ? {kind: 'met'}
      : {kind: 'pending', state: `${ready} of ${active} pods ready`};
  }
  const ended = pods.length - active;
  const result = endOf(seen);
  if ((result === type.toLowerCase()) === wanted) return {kind: 'met'};
  if (result !== undefined)
    return {kind: 'failed', reason: result === 'failed' ? 'it has failed' : 'it is complete'};
  return {kind: 'pending', state: `${active} of its pods active, ${ended} ended`};
}

/** Returns how a Job has ended; undefined while it runs. */
function endOf({active, isRun, result, pods}: SeenWorkload): 'complete' | 'failed' | undefined {
  if (result !== undefined || isRun || active > 0) return result;
  const [last] = pods.toSorted((a, b) => endTime(b) - endTime(a));
  return last?.status?.phase === 'Succeeded' ? 'complete' : 'failed';
}

/** Returns the time at which the last container of a pod ended, in ms since the epoch. */
function endTime({status: {containerStatuses = [], initContainerStatuses = []} = {}}: Pod): number {
  const times = [...containerStatuses, ...initContainerStatuses].map(({state}) =>
    Date.parse(state?.terminated?.finishedAt ?? ''),
  );
  return Math.max(0, ...times.filter((time) => !Number.isNaN(time)));
}
