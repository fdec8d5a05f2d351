import {createJobDocument, jobOf} from '../../api/manifest/expand-documents.js';
import {belongsTo, workloadRef} from '../../api/workloads/workload-of-pod.js';
import type {PodDocument, WorkloadDocument} from '../../api/manifest/parse-manifest.js';
import type {JobRequest, OrderedRequests, PreparedPod, SyncRequest} from '../../kubelet/index.js';

/** A pod, pods that start in order, or a Job. */
export type WorkloadRequest = SyncRequest | OrderedRequests | JobRequest;

/** Completes a pod with its identity. */
export type PrepareDocument = (document: PodDocument) => PreparedPod;

/** Returns what a sync does with the pods of workloads: those of a Job are created as it progresses. */
export function createRequests(
  pods: readonly PreparedPod[],
  workloads: readonly WorkloadDocument[],
  prepare: PrepareDocument,
): readonly WorkloadRequest[] {
  const grouped = new Set<PreparedPod>();
  const groups: WorkloadRequest[] = [];
  for (const document of workloads) {
    const own = pods.filter(({pod}) => belongsTo(pod, workloadRef(document.workload)));
    const group = groupOf(document, own, prepare);
    if (group === undefined) continue;
    groups.push(group);
    for (const pod of own) grouped.add(pod);
  }
  return [...pods.filter((pod) => !grouped.has(pod)), ...groups];
}

function groupOf(
  document: WorkloadDocument,
  pods: readonly PreparedPod[],
  prepare: PrepareDocument,
): OrderedRequests | JobRequest | undefined {
  const {workload} = document;
  const job = jobOf(document);
  if (job !== undefined)
    return {job, createRequest: (place) => prepare(createJobDocument(document, job, place))};
  const isOrdered =
    workload.kind === 'StatefulSet' &&
    (workload.spec.podManagementPolicy ?? 'OrderedReady') === 'OrderedReady';
  return isOrdered ? {ordered: pods} : undefined;
}
