import type {ObjectMeta} from '../types/v1-meta.js';
import type {CronJob, PodTemplateSpec, Workload} from '../types/v1-workloads.js';
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
  // The template has the same type in every spec.
  const spec = {...workload.spec, template: defaultTemplate(workload.spec.template)};
  return {...workload, metadata, spec} as Workload;
}
