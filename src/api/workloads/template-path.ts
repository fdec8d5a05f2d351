import {FieldPath, type PathStep} from '../field-path.js';
import type {PodTemplateSpec, Workload} from '../types/v1-workloads.js';

/** Returns the template of a workload's pods. */
export function templateOf(workload: Workload): PodTemplateSpec {
  if (workload.kind === 'PodTemplate') return workload.template;
  return workload.kind === 'CronJob' ? workload.spec.jobTemplate.spec.template : workload.spec.template;
}

/** Returns the path of the template of a workload's pods. */
export function templatePath({kind}: Workload): FieldPath {
  const root = new FieldPath();
  if (kind === 'PodTemplate') return root.child('template');
  return kind === 'CronJob'
    ? root.child('spec', 'jobTemplate', 'spec', 'template')
    : root.child('spec', 'template');
}

/** Fields of a pod's metadata that its controller takes from the workload. */
const FROM_WORKLOAD: readonly PathStep[] = ['name', 'generateName', 'namespace', 'ownerReferences'];

/** Returns the field of the workload that determines a field of its pods. */
export function toWorkloadPath(workload: Workload, {steps}: FieldPath): FieldPath {
  const [first, second] = steps;
  if (first === 'metadata' && second !== undefined && FROM_WORKLOAD.includes(second))
    return new FieldPath(['metadata', second === 'namespace' ? 'namespace' : 'name']);
  return new FieldPath([...templatePath(workload).steps, ...steps]);
}
