import type {Container, Pod, PodSpec} from '../types/v1-pod.js';
import type {CronJob, Job} from '../types/v1-workloads.js';
import {generateName, indexedPrefix, uidOf} from './generated-names.js';
import {createPod} from './pod-from-template.js';

const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index';
const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** Place of a pod in its Job. */
export interface JobPodPlace {
  /** Completion index, or, if the Job is not Indexed, the number of pods created before. */
  readonly index: number;
  /** Number of earlier pods of the same index that failed. */
  readonly attempt: number;
}

/** Reports whether the pods of a Job have completion indexes. */
export function isIndexed({spec}: Job): boolean {
  return spec.completionMode === 'Indexed';
}

/** Returns the Job of one run of a CronJob, as `kubectl create job --from` creates it. */
export function createCronJobRun({metadata, spec: {jobTemplate}}: CronJob): Job {
  const {name = '', namespace = 'default'} = metadata;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      ...jobTemplate.metadata,
      name: `${name}-manual`,
      namespace,
      annotations: {...jobTemplate.metadata?.annotations, 'cronjob.kubernetes.io/instantiate': 'manual'},
    },
    spec: jobTemplate.spec,
  };
}

/** Returns the first pods of a Job: one for each completion, or, without completions, one for each worker. */
export function createJobPods(job: Job): readonly Pod[] {
  const {completions, parallelism = 1, suspend = false} = job.spec;
  if (suspend) return [];
  return Array.from({length: completions ?? parallelism}, (_, index) =>
    createJobPod(job, {index, attempt: 0}),
  );
}

/** Returns a pod of a Job as its controller creates it (manageJob). */
export function createJobPod(job: Job, {index, attempt}: JobPodPlace): Pod {
  const {name = '', namespace = ''} = job.metadata;
  const indexed = isIndexed(job);
  const prefix = indexed ? indexedPrefix(name, index) : `${name}-`;
  const place = indexed ? {[COMPLETION_INDEX]: String(index)} : {};
  const uid = uidOf('Job', job.metadata);
  return createPod(
    job.spec.template,
    job,
    {
      name: generateName(prefix, `${namespace}/${index}/${attempt}`),
      generateName: prefix,
      labels: {
        'batch.kubernetes.io/controller-uid': uid,
        'batch.kubernetes.io/job-name': name,
        'controller-uid': uid,
        'job-name': name,
        ...place,
      },
      annotations: {
        ...place,
        ...(indexed &&
          job.spec.backoffLimitPerIndex !== undefined && {
            'batch.kubernetes.io/job-index-failure-count': String(attempt),
          }),
      },
      finalizers: [TRACKING_FINALIZER],
    },
    indexed ? (spec) => withIndex(spec, `${name}-${index}`) : undefined,
  );
}

/** Returns the spec with the variable of the completion index in every container, and the host name of the index. */
function withIndex(spec: PodSpec, hostname: string): PodSpec {
  const add = (container: Container): Container => {
    const {env = []} = container;
    if (env.some(({name}) => name === INDEX_VARIABLE)) return container;
    const fieldPath = `metadata.labels['${COMPLETION_INDEX}']`;
    const variable = {name: INDEX_VARIABLE, valueFrom: {fieldRef: {apiVersion: 'v1', fieldPath}}};
    return {...container, env: [...env, variable]};
  };
  return {
    ...spec,
    hostname,
    containers: spec.containers.map(add),
    ...(spec.initContainers && {initContainers: spec.initContainers.map(add)}),
  };
}
