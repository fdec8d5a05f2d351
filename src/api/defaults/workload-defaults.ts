import type {ObjectMeta} from '../types/v1-meta.js';
import type {CronJob, JobSpec, PodTemplateSpec, Workload} from '../types/v1-workloads.js';
import {withGeneratedName} from '../workloads/generated-names.js';
import {applyPodDefaults} from './pod-defaults.js';

/** Returns a template whose pods have their defaults, except for the namespace, which is the workload's. */
function defaultTemplate({metadata, spec}: PodTemplateSpec): PodTemplateSpec {
  const {spec: complete} = applyPodDefaults({apiVersion: 'v1', kind: 'Pod', metadata: {}, spec});
  return {...(metadata && {metadata}), spec: complete};
}

function withNamespace(metadata: ObjectMeta): ObjectMeta {
  const {namespace = ''} = metadata;
  return {...metadata, namespace: namespace === '' ? 'default' : namespace};
}

/**
 * Returns the spec of a Job that has one completion if it is Indexed and has no number of pods (SetDefaults_Job). Other
 * Jobs run one pod without the field, too; their progress is stored by what is written. The template of a CronJob has no
 * defaults.
 */
function defaultJobSpec(spec: JobSpec): JobSpec {
  const complete = {...spec, template: defaultTemplate(spec.template)};
  const isOpen = spec.completions === undefined && spec.parallelism === undefined;
  return spec.completionMode === 'Indexed' && isOpen
    ? {...complete, completions: 1, parallelism: 1}
    : complete;
}

function defaultCronJob({spec, ...cronJob}: CronJob): CronJob {
  const {jobTemplate} = spec;
  const template = defaultTemplate(jobTemplate.spec.template);
  return {...cronJob, spec: {...spec, jobTemplate: {...jobTemplate, spec: {...jobTemplate.spec, template}}}};
}

/**
 * Returns the workload with the defaults of the API server for its namespace and its pods, and with a name if it has
 * only a generateName. Pure and idempotent.
 */
export function applyWorkloadDefaults(workload: Workload): Workload {
  return withGeneratedName(defaultWorkload(workload));
}

function defaultWorkload(workload: Workload): Workload {
  const metadata = withNamespace(workload.metadata);
  if (workload.kind === 'CronJob') return {...defaultCronJob(workload), metadata};
  if (workload.kind === 'PodTemplate')
    return {...workload, metadata, template: defaultTemplate(workload.template)};
  if (workload.kind === 'Job') return {...workload, metadata, spec: defaultJobSpec(workload.spec)};
  // The template has the same type in every spec.
  const spec = {...workload.spec, template: defaultTemplate(workload.spec.template)};
  return {...workload, metadata, spec} as Workload;
}
