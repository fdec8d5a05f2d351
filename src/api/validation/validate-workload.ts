import type {FieldError, FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {AnySchema} from '../schema/object-schema.js';
import {
  cronJob,
  daemonSet,
  deployment,
  job,
  podTemplate,
  replicaSet,
  replicationController,
  statefulSet,
} from '../schema/schema-workloads.js';
import type {LabelSelector} from '../types/v1-meta.js';
import type {
  DaemonSet,
  Deployment,
  JobSpec,
  ReplicaSet,
  StatefulSet,
  Workload,
} from '../types/v1-workloads.js';
import {expandWorkload} from '../workloads/expand-workload.js';
import {matchesLabelSelector} from '../workloads/match-labels.js';
import {templateOf, templatePath, toWorkloadPath} from '../workloads/template-path.js';
import {validateNonNegative, validateRequired} from './field-validators.js';
import {validateEnumerations} from './validate-enumerations.js';
import {validateJobSpec} from './validate-job.js';
import {validateLabelSelector, validateObjectMeta} from './validate-metadata.js';
import {validatePod} from './validate-pod.js';

const root = new FieldPath();

const SCHEMAS = {
  CronJob: cronJob,
  DaemonSet: daemonSet,
  Deployment: deployment,
  Job: job,
  PodTemplate: podTemplate,
  ReplicaSet: replicaSet,
  ReplicationController: replicationController,
  StatefulSet: statefulSet,
} as const satisfies Record<Workload['kind'], AnySchema>;

/** Workloads whose pods are always restarted, and which select them by labels. */
type Selecting = DaemonSet | Deployment | ReplicaSet | StatefulSet;

function* validateSelector(workload: Selecting): FieldErrors {
  const {selector, template} = workload.spec;
  const path = root.child('spec', 'selector');
  if (selector === undefined) {
    yield requiredValue(path);
    return;
  }
  yield* validateLabelSelector(selector, path);
  if (isEmpty(selector))
    yield invalidValue(path, selector, `empty selector is invalid for ${workload.kind.toLowerCase()}`);
  const labels = template.metadata?.labels ?? {};
  if (!matchesLabelSelector(selector, labels))
    yield invalidValue(
      root.child('spec', 'template', 'metadata', 'labels'),
      labels,
      '`selector` does not match template `labels`',
    );
}

function isEmpty({matchLabels = {}, matchExpressions = []}: LabelSelector): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** Requires pods that are always restarted (ValidatePodTemplateSpecForReplicaSet and the like). */
function* validateEndlessPods(workload: Workload): FieldErrors {
  const path = templatePath(workload).child('spec');
  const {restartPolicy = 'Always', activeDeadlineSeconds} = templateOf(workload).spec;
  if (restartPolicy !== 'Always')
    yield unsupportedValue(path.child('restartPolicy'), restartPolicy, ['Always']);
  if (activeDeadlineSeconds !== undefined)
    yield forbidden(
      path.child('activeDeadlineSeconds'),
      `activeDeadlineSeconds in ${workload.kind} is not Supported`,
    );
}

/** Fields of the specs that must not be negative. */
const COUNTS = ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds'];

function* validateCounts(spec: object): FieldErrors {
  for (const [name, value] of Object.entries(spec))
    if (COUNTS.includes(name) && typeof value === 'number')
      yield* validateNonNegative(value, root.child('spec', name));
}

function* validateSpec(workload: Workload): FieldErrors {
  switch (workload.kind) {
    case 'CronJob':
      yield* validateRequired(workload.spec.schedule, root.child('spec', 'schedule'));
      yield* validateJobSpec(workload.spec.jobTemplate.spec, root.child('spec', 'jobTemplate', 'spec'));
      return;
    case 'Job':
      yield* validateJobSpec(workload.spec, root.child('spec'));
      return;
    case 'PodTemplate':
      return;
    case 'ReplicationController':
      yield* validateCounts(workload.spec);
      yield* validateEndlessPods(workload);
      return;
    default:
      yield* validateCounts(workload.spec);
      yield* validateSelector(workload);
      yield* validateEndlessPods(workload);
  }
}

/** Returns a workload with at least one pod, whose validation covers the template. */
function withOnePod(workload: Workload): Workload {
  const one = (spec: JobSpec): JobSpec => ({...spec, completions: 1, suspend: false});
  if (workload.kind === 'Job') return {...workload, spec: one(workload.spec)};
  if (workload.kind !== 'CronJob') return workload;
  const {jobTemplate} = workload.spec;
  const complete = {...jobTemplate, spec: one(jobTemplate.spec)};
  return {...workload, spec: {...workload.spec, jobTemplate: complete}};
}

/** Validates the template by the first pod that the controller creates from it. */
function* validateTemplate(workload: Workload): FieldErrors {
  const [pod] = expandWorkload(withOnePod(workload), {replicas: 1});
  if (pod === undefined) return;
  for (const {path, message} of validatePod(pod)) yield {path: toWorkloadPath(workload, path), message};
}

/**
 * Validates a workload and the pods of its template, and returns the API server's messages. The workload must have its
 * defaults (applyWorkloadDefaults).
 */
export function validateWorkload(workload: Workload): readonly FieldError[] {
  const own = [
    ...validateObjectMeta(workload.metadata, root.child('metadata')),
    ...validateEnumerations(
      SCHEMAS[workload.kind],
      {...workload, metadata: undefined, template: undefined},
      root,
    ),
    ...validateSpec(workload),
  ];
  const reported = new Set(own.map(({path}) => path.toString()));
  return [...own, ...[...validateTemplate(workload)].filter(({path}) => !reported.has(path.toString()))];
}
