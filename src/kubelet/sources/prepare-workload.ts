import {PodValidationError} from '../../api/decoding/manifest-issue.js';
import type {PodDocument, WorkloadDocument} from '../../api/manifest/parse-manifest.js';
import type {Job} from '../../api/types/v1-workloads.js';
import {createJobDocument, expandDocuments, jobOf} from '../../api/manifest/expand-documents.js';
import type {ApiObjects} from '../contract/api-objects.js';
import type {DesiredWorkload, DesiredPod} from '../contract/pod-update.js';
import {
  createRejection,
  prepareManifest,
  type ManifestRejection,
  type PreparePod,
} from './prepare-manifest.js';

/** Workload whose pods can run. */
interface PreparedWorkload {
  readonly kind: 'prepared';
  readonly desired: DesiredWorkload;
}

/** Returns a workload with its pods, or the reason why they cannot run. */
export function prepareWorkload(
  document: WorkloadDocument,
  prepare: PreparePod,
  objects: ApiObjects,
): PreparedWorkload | ManifestRejection {
  const {workload} = document;
  const expanded = expand(document);
  if ('kind' in expanded) return expanded;
  const job = jobOf(document);
  const pods: DesiredPod[] = [];
  for (const pod of job === undefined ? expanded : samplesOf(document, job)) {
    const prepared = prepareManifest(pod, prepare, objects);
    if (prepared.kind === 'rejected') return prepared;
    pods.push(prepared.desired);
  }
  if (job === undefined) return {kind: 'prepared', desired: {kind: 'pods', workload, pods}};
  const createPod: Extract<DesiredWorkload, {kind: 'job'}>['createPod'] = (place, uid) => {
    const {pod, ...location} = createJobDocument(document, job, place);
    const withUid = {...location, pod: {...pod, metadata: {...pod.metadata, uid}}};
    return {uid, pod: prepare(withUid, objects), origin: document.origin};
  };
  return {kind: 'prepared', desired: {kind: 'job', workload, job, createPod}};
}

/** Returns the pods of a Job that are checked: those with the shortest and the longest index. */
function samplesOf(document: WorkloadDocument, job: Job): readonly PodDocument[] {
  const {completions = 1} = job.spec;
  return [0, Math.max(0, completions - 1)].map((index) =>
    createJobDocument(document, job, {index, attempt: 0}),
  );
}

/** Returns the pods of a workload, or the rejection of one with too many pods for a node. */
function expand(document: WorkloadDocument): readonly PodDocument[] | ManifestRejection {
  try {
    return expandDocuments([document], {});
  } catch (error) {
    if (!(error instanceof PodValidationError)) throw error;
    return createRejection(error);
  }
}
