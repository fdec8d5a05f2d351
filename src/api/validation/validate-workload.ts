import type {FieldError, FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import {applyControllerDefaults} from '../defaults/controller-defaults.js';
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
} from '../types/v1-workloads.js';
import type {LabelSelector} from '../types/v1-meta.js';
import type {
  DaemonSet,
  Deployment,
  JobSpec,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  Workload,
} from '../types/v1-workloads.js';
import {expandWorkload} from '../workloads/expand-workload.js';
import {matchesLabels, matchesLabelSelector} from '../workloads/match-labels.js';
import {templateOf, templatePath, toWorkloadPath} from '../workloads/template-path.js';
import {validateEach, validateIfSet, validateNonNegative} from './field-validators.js';
import {validateClaimSpec} from './validate-attached-volumes.js';
import {validateCronJob} from './validate-cron-job.js';
import {validateEnumerations} from './validate-enumerations.js';
import {validateJob} from './validate-job.js';
import {validateLabelSelector, validateObjectMeta} from './validate-metadata.js';
import {checkDnsLabel, checkDnsSubdomain, validateName} from './validate-names.js';
import {validatePod} from './validate-pod.js';
import {
  validateDaemonSetStrategy,
  validateDeploymentStrategy,
  validateStatefulSetStrategy,
} from './validate-strategy.js';

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

const SELECTS_OTHERS = '`selector` does not match template `labels`';

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
    yield invalidValue(root.child('spec', 'template', 'metadata', 'labels'), labels, SELECTS_OTHERS);
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

function* validateCounts({kind, spec}: Selecting | ReplicationController): FieldErrors {
  // The API server does not check that of a StatefulSet.
  const counts = kind === 'StatefulSet' ? COUNTS.filter((name) => name !== 'revisionHistoryLimit') : COUNTS;
  for (const [name, value] of Object.entries(spec))
    if (counts.includes(name) && typeof value === 'number')
      yield* validateNonNegative(value, root.child('spec', name));
}

function* validateDeployment({spec}: Deployment): FieldErrors {
  const {minReadySeconds = 0, progressDeadlineSeconds = 0} = spec;
  yield* validateIfSet(spec.strategy, root.child('spec', 'strategy'), validateDeploymentStrategy);
  if (progressDeadlineSeconds <= minReadySeconds)
    yield invalidValue(
      root.child('spec', 'progressDeadlineSeconds'),
      progressDeadlineSeconds,
      'must be greater than minReadySeconds',
    );
}

function* validateStatefulSet({metadata, spec}: StatefulSet): FieldErrors {
  const {serviceName = '', ordinals, volumeClaimTemplates, updateStrategy} = spec;
  const {name = ''} = metadata;
  const at = root.child('metadata', 'name');
  // validateObjectMeta reports a name that is not a DNS subdomain.
  if (name !== '' && checkDnsSubdomain(name).length === 0) yield* validateName(name, at, checkDnsLabel);
  yield* validateIfSet(updateStrategy, root.child('spec', 'updateStrategy'), validateStatefulSetStrategy);
  yield* validateEach(volumeClaimTemplates, root.child('spec', 'volumeClaimTemplates'), (claim, path) =>
    validateClaimSpec(claim.spec, path.child('spec')),
  );
  yield* validateNonNegative(ordinals?.start, root.child('spec', 'ordinals', 'start'));
  if (serviceName !== '') yield* validateName(serviceName, root.child('spec', 'serviceName'), checkDnsLabel);
}

/** Validates the selector of a ReplicationController, which is a plain map (ValidateReplicationControllerSpec). */
function* validateMapSelector({spec: {selector = {}, template}}: ReplicationController): FieldErrors {
  const labels = template.metadata?.labels ?? {};
  if (Object.keys(selector).length === 0) yield requiredValue(root.child('spec', 'selector'));
  else if (!matchesLabels(selector, labels))
    yield invalidValue(root.child('spec', 'template', 'metadata', 'labels'), labels, SELECTS_OTHERS);
}

function* validateReplicas(workload: Selecting | ReplicationController): FieldErrors {
  yield* validateCounts(workload);
  if (workload.kind === 'ReplicationController') yield* validateMapSelector(workload);
  else yield* validateSelector(workload);
  yield* validateEndlessPods(workload);
  if (workload.kind === 'Deployment') yield* validateDeployment(workload);
  if (workload.kind === 'StatefulSet') yield* validateStatefulSet(workload);
  if (workload.kind === 'DaemonSet')
    yield* validateIfSet(
      workload.spec.updateStrategy,
      root.child('spec', 'updateStrategy'),
      validateDaemonSetStrategy,
    );
}

function* validateSpec(workload: Workload): FieldErrors {
  switch (workload.kind) {
    case 'CronJob':
      yield* validateCronJob(workload);
      return;
    case 'Job':
      yield* validateJob(workload);
      return;
    case 'PodTemplate':
      return;
    default:
      yield* validateReplicas(workload);
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
export function validateWorkload(written: Workload): readonly FieldError[] {
  const workload = applyControllerDefaults(written);
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
