import {invalidValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {PodValidationError} from '../decoding/manifest-issue.js';
import type {DocumentLocation, ObjectDocument, PodDocument, WorkloadDocument} from './parse-manifest.js';
import type {Job, Workload} from '../types/v1-workloads.js';
import {expandSetClaims, expandWorkload, type ExpandOptions} from '../workloads/expand-workload.js';
import {createCronJobRun, createJobPod, type JobPodPlace} from '../workloads/job-pods.js';
import {toWorkloadPath} from '../workloads/template-path.js';

/** Maximum number of pods of one workload: far more than run on a node, and few enough to prepare all of them. */
const MAX_PODS = 1000;

/** Returns the field that sets the number of pods, if a manifest can set it too high for a node. */
function countOf(
  workload: Workload,
  {replicas}: ExpandOptions,
): {path: FieldPath; count: number} | undefined {
  const root = new FieldPath();
  switch (workload.kind) {
    case 'Deployment':
    case 'ReplicaSet':
    case 'ReplicationController':
    case 'StatefulSet':
      return {path: root.child('spec', 'replicas'), count: replicas ?? workload.spec.replicas ?? 1};
    case 'Job':
      return {
        path: root.child('spec', 'completions'),
        count: workload.spec.completions ?? workload.spec.parallelism ?? 1,
      };
    default:
      return undefined;
  }
}

/**
 * Returns the pods of workloads. Their issues have the positions of the fields in the template.
 *
 * @throws PodValidationError for a workload with more than 1000 pods.
 */
export function expandDocuments(
  documents: readonly WorkloadDocument[],
  options: ExpandOptions,
): readonly PodDocument[] {
  return documents.flatMap(({workload, ...location}) => {
    const {path, count} = countOf(workload, options) ?? {path: new FieldPath(), count: 0};
    if (count > MAX_PODS) {
      const rule = `at most ${MAX_PODS} pods of a workload can run on one node`;
      throw new PodValidationError([location.createIssue(invalidValue(path, count, rule))]);
    }
    const place = inTemplate(workload, location);
    return expandWorkload(workload, options).map((pod) => ({...place, pod}));
  });
}

/** Returns the claims of StatefulSets. Their issues have the positions of the fields in their templates. */
export function expandClaims(
  documents: readonly WorkloadDocument[],
  options: ExpandOptions,
): readonly ObjectDocument[] {
  return documents.flatMap(({workload, ...location}) => {
    if (workload.kind !== 'StatefulSet') return [];
    return expandSetClaims(workload, options).map(({claim, template}): ObjectDocument => {
      const prefix = ['spec', 'volumeClaimTemplates', template];
      return {
        ...location,
        object: claim,
        createIssue: (error) =>
          location.createIssue({...error, path: new FieldPath([...prefix, ...error.path.steps])}),
      };
    });
  });
}

/** Returns the Job of a document, or that of the run of a CronJob; undefined for other workloads. */
export function jobOf({workload}: WorkloadDocument): Job | undefined {
  if (workload.kind === 'Job') return workload;
  return workload.kind === 'CronJob' ? createCronJobRun(workload) : undefined;
}

/** Returns a pod of a Job. Its issues have the positions of the fields in the template. */
export function createJobDocument(
  {workload, ...location}: WorkloadDocument,
  job: Job,
  place: JobPodPlace,
): PodDocument {
  return {...inTemplate(workload, location), pod: createJobPod(job, place)};
}

function inTemplate(workload: Workload, location: DocumentLocation): DocumentLocation {
  return {
    ...location,
    createIssue: (error) => location.createIssue({...error, path: toWorkloadPath(workload, error.path)}),
  };
}
