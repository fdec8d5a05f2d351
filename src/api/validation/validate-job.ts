import type {FieldErrors} from '../field-error.js';
import {invalidValue, requiredValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import type {
  JobSpec,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
} from '../types/v1-workloads.js';
import {containersOf} from '../pod-containers.js';
import {parseIndexes} from '../workloads/indexes.js';
import {validateEach, validateIfSet, validateNonNegative} from './field-validators.js';

/** Fields of a Job that must not be negative. */
const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const satisfies readonly (keyof JobSpec)[];

function* validateCompletionMode(spec: JobSpec, path: FieldPath): FieldErrors {
  if (spec.completionMode === 'Indexed') {
    if (spec.completions === undefined)
      yield requiredValue(path.child('completions'), 'when completion mode is Indexed');
    return;
  }
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy'] as const)
    if (spec[name] !== undefined)
      yield invalidValue(path.child(name), spec[name], 'requires indexed completion mode');
}

function* validateRestartPolicy(spec: JobSpec, path: FieldPath): FieldErrors {
  const {restartPolicy} = spec.template.spec;
  const at = path.child('template', 'spec', 'restartPolicy');
  if (restartPolicy === undefined || restartPolicy === 'Always')
    yield requiredValue(at, 'valid values: "OnFailure", "Never"');
  else if (spec.podFailurePolicy !== undefined && restartPolicy !== 'Never')
    yield invalidValue(at, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified');
}

/** Validates a rule for failed pods (validatePodFailurePolicyRule). */
function* validateFailureRule(
  {action, onExitCodes, onPodConditions = []}: PodFailurePolicyRule,
  path: FieldPath,
  spec: JobSpec,
): FieldErrors {
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    yield invalidValue(path.child('action'), action, 'requires the backoffLimitPerIndex to be set');
  if (onExitCodes === undefined && onPodConditions.length === 0)
    yield invalidValue(path, {action}, 'specifying one of OnExitCodes and OnPodConditions is required');
  yield* validateIfSet(onExitCodes, path.child('onExitCodes'), (codes, at) =>
    validateExitCodes(codes, at, spec),
  );
}

function* validateExitCodes(
  {containerName, operator, values}: PodFailurePolicyOnExitCodesRequirement,
  path: FieldPath,
  {template}: JobSpec,
): FieldErrors {
  if (values.length === 0) yield requiredValue(path.child('values'), 'at least one value is required');
  if (operator === 'In' && values.includes(0))
    yield invalidValue(path.child('values'), 0, 'must not be 0 for the In operator');
  const names = containersOf(template).map(({name}) => name);
  if (containerName !== undefined && !names.includes(containerName))
    yield invalidValue(
      path.child('containerName'),
      containerName,
      'must be one of the container or initContainer names in the pod template',
    );
}

/** Validates the spec of a Job, except for its template (validateJobSpec). */
export function* validateJobSpec(spec: JobSpec, path: FieldPath): FieldErrors {
  for (const name of COUNTS) yield* validateNonNegative(spec[name], path.child(name));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    yield requiredValue(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  yield* validateCompletionMode(spec, path);
  yield* validateEach(spec.podFailurePolicy?.rules, path.child('podFailurePolicy', 'rules'), (rule, at) =>
    validateFailureRule(rule, at, spec),
  );
  yield* validateEach(
    spec.successPolicy?.rules,
    path.child('successPolicy', 'rules'),
    ({succeededIndexes}, at) =>
      validateIfSet(succeededIndexes, at.child('succeededIndexes'), validateIndexes),
  );
  yield* validateRestartPolicy(spec, path);
}

function* validateIndexes(text: string, path: FieldPath): FieldErrors {
  if (parseIndexes(text) === undefined)
    yield invalidValue(path, text, 'must be increasing indexes and intervals, such as 1,3-5');
}
