import type {Pod} from '../../api/types/v1-pod.js';
import {belongsTo, type WorkloadRef} from '../../api/workloads/workload-of-pod.js';
import type {PodRecord, PreparedPod} from '../../kubelet/index.js';

/** Workloads of manifests and all the pods that they have now. */
export interface CurrentWorkloads {
  readonly workloads: readonly WorkloadRef[];
  readonly pods: readonly Pick<PreparedPod, 'pod'>[];
}

/** Pod that a workload no longer wants. */
export interface ReplacedPod {
  readonly record: PodRecord;
  /** Reason of its deletion, such as `no longer part of deployment/web`. */
  readonly reason: string;
}

/**
 * Returns the pods that the workloads no longer want, because the template or the number of replicas has changed: a
 * sync deletes them when `isComplete` holds for their workload. Those with the name of a wanted pod are not among them,
 * since that pod replaces them when it is adopted, nor are pods that a kubelet manages.
 */
export function selectReplacedPods(
  records: readonly PodRecord[],
  {workloads, pods}: CurrentWorkloads,
  isComplete: (workload: WorkloadRef) => boolean = () => true,
): readonly ReplacedPod[] {
  const wanted = new Set(pods.map(({pod}) => nameOf(pod)));
  const complete = workloads.filter(isComplete);
  return records.flatMap((record) => {
    if (record.manager !== undefined || wanted.has(nameOf(record.pod))) return [];
    const workload = complete.find((one) => belongsTo(record.pod, one));
    return workload === undefined ? [] : [{record, reason: reasonOf(workload)}];
  });
}

function nameOf({metadata: {namespace = 'default', name = ''}}: Pod): string {
  return `${namespace}/${name}`;
}

function reasonOf({kind, name}: WorkloadRef): string {
  return `no longer part of ${kind.toLowerCase()}/${name}`;
}
