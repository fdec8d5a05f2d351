import type {FieldErrors} from '../field-error.js';
import {
  duplicateValue,
  invalidValue,
  requiredValue,
  tooLong,
  tooMany,
  unsupportedValue,
} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {
  Job,
  JobSpec,
  PodFailurePolicy,
  PodFailurePolicyOnExitCodesRequirement,
  PodFailurePolicyRule,
  SuccessPolicy,
  SuccessPolicyRule,
} from '../types/v1-workloads.js';
import {containersOf} from '../pod-containers.js';
import {parseIndexes} from '../workloads/indexes.js';
import {matchesLabelSelector} from '../workloads/match-labels.js';
import {validateEach, validateIfSet, validateNonNegative} from './field-validators.js';
import {validateLabelSelector} from './validate-metadata.js';
import {checkDnsLabel, checkDnsSubdomain, checkQualifiedName, validateName} from './validate-names.js';

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

/** Limits of Indexed Jobs. */
const MOST_PARALLEL_INDEXES = 100_000;
const MOST_FAILED_INDEXES = 100_000;
/** Number of completions above which a Job with a limit per index has lower limits. */
const MANY_COMPLETIONS = 100_000;
const MOST_OF_MANY = 10_000;

function* validateCompletionMode(spec: JobSpec, path: FieldPath): FieldErrors {
  if (spec.completionMode === 'Indexed') {
    yield* validateIndexedJob(spec, path);
    return;
  }
  for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy'] as const)
    if (spec[name] !== undefined)
      yield invalidValue(path.child(name), spec[name], 'requires indexed completion mode');
}

function* validateMost(value: number | undefined, path: FieldPath, most: number, rest = ''): FieldErrors {
  if (value !== undefined && value > most)
    yield invalidValue(path, value, `must be less than or equal to ${most}${rest}`);
}

function* validateIndexedJob(spec: JobSpec, path: FieldPath): FieldErrors {
  const {completions, parallelism, maxFailedIndexes, backoffLimitPerIndex, successPolicy} = spec;
  if (completions === undefined)
    yield requiredValue(path.child('completions'), 'when completion mode is Indexed');
  const workers = path.child('parallelism');
  const failures = path.child('maxFailedIndexes');
  const mode = ' when completion mode is Indexed';
  yield* validateMost(parallelism, workers, MOST_PARALLEL_INDEXES, mode);
  if (completions !== undefined && maxFailedIndexes !== undefined && maxFailedIndexes > completions)
    yield invalidValue(failures, maxFailedIndexes, 'must be less than or equal to completions');
  yield* validateMost(maxFailedIndexes, failures, MOST_FAILED_INDEXES);
  if ((completions ?? 0) > MANY_COMPLETIONS && backoffLimitPerIndex !== undefined) {
    if (maxFailedIndexes === undefined)
      yield requiredValue(failures, `must be specified when completions is above ${MANY_COMPLETIONS}`);
    const many = ` when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`;
    yield* validateMost(parallelism, workers, MOST_OF_MANY, many);
    yield* validateMost(maxFailedIndexes, failures, MOST_OF_MANY, many);
  }
  yield* validateIfSet(successPolicy, path.child('successPolicy'), (policy, at) =>
    validateSuccessPolicy(policy, at, completions ?? 0),
  );
}

function* validateRestartPolicy(spec: JobSpec, path: FieldPath): FieldErrors {
  const {restartPolicy} = spec.template.spec;
  const at = path.child('template', 'spec', 'restartPolicy');
  if (restartPolicy === undefined || restartPolicy === 'Always')
    yield requiredValue(at, 'valid values: "OnFailure", "Never"');
  else if (spec.podFailurePolicy !== undefined && restartPolicy !== 'Never')
    yield invalidValue(at, restartPolicy, 'only "Never" is supported when podFailurePolicy is specified');
}

/** Maximum numbers of rules, conditions of a rule, and exit codes of a rule. */
const MOST_RULES = 20;
const MOST_CONDITIONS = 20;
const MOST_EXIT_CODES = 255;

/** Validates the policy for failed pods (validatePodFailurePolicy). */
function* validateFailurePolicy({rules}: PodFailurePolicy, path: FieldPath, spec: JobSpec): FieldErrors {
  if (rules.length > MOST_RULES) yield tooMany(path.child('rules'), rules.length, MOST_RULES);
  yield* validateEach(rules, path.child('rules'), (rule, at) => validateFailureRule(rule, at, spec));
}

/** Validates a rule for failed pods (validatePodFailurePolicyRule). */
function* validateFailureRule(
  {action, onExitCodes, onPodConditions = []}: PodFailurePolicyRule,
  path: FieldPath,
  spec: JobSpec,
): FieldErrors {
  if (action === 'FailIndex' && spec.backoffLimitPerIndex === undefined)
    yield invalidValue(path.child('action'), action, 'requires the backoffLimitPerIndex to be set');
  yield* validateIfSet(onExitCodes, path.child('onExitCodes'), (codes, at) =>
    validateExitCodes(codes, at, spec),
  );
  const conditions = path.child('onPodConditions');
  if (onPodConditions.length > MOST_CONDITIONS)
    yield tooMany(conditions, onPodConditions.length, MOST_CONDITIONS);
  yield* validateEach(onPodConditions, conditions, ({type}, at) =>
    validateName(type, at.child('type'), checkQualifiedName),
  );
  if (onExitCodes !== undefined && onPodConditions.length > 0)
    yield invalidValue(path, {action}, 'specifying both OnExitCodes and OnPodConditions is not supported');
  if (onExitCodes === undefined && onPodConditions.length === 0)
    yield invalidValue(path, {action}, 'specifying one of OnExitCodes and OnPodConditions is required');
}

function* validateExitCodes(
  {containerName, operator, values}: PodFailurePolicyOnExitCodesRequirement,
  path: FieldPath,
  {template}: JobSpec,
): FieldErrors {
  const names = containersOf(template).map(({name}) => name);
  if (containerName !== undefined && !names.includes(containerName))
    yield invalidValue(
      path.child('containerName'),
      containerName,
      'must be one of the container or initContainer names in the pod template',
    );
  const at = path.child('values');
  if (values.length === 0) yield invalidValue(at, values, 'at least one value is required');
  if (values.length > MOST_EXIT_CODES) yield tooMany(at, values.length, MOST_EXIT_CODES);
  for (const [index, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      yield invalidValue(at.index(index), value, 'must not be 0 for the In operator');
    if (values.indexOf(value) < index) yield duplicateValue(at.index(index), value);
  }
  if (values.some((value, index) => value < (values[index - 1] ?? value)))
    yield invalidValue(at, values, 'must be ordered');
}

/** Validates when an Indexed Job succeeds early (validateSuccessPolicy). */
function* validateSuccessPolicy({rules}: SuccessPolicy, path: FieldPath, completions: number): FieldErrors {
  const at = path.child('rules');
  if (rules.length === 0)
    yield requiredValue(at, 'at least one rules must be specified when the successPolicy is specified');
  if (rules.length > MOST_RULES) yield tooMany(at, rules.length, MOST_RULES);
  yield* validateEach(rules, at, (rule, place) => validateSuccessRule(rule, place, completions));
}

function* validateSuccessRule(
  {succeededIndexes, succeededCount}: SuccessPolicyRule,
  path: FieldPath,
  completions: number,
): FieldErrors {
  if (succeededCount === undefined && succeededIndexes === undefined)
    yield requiredValue(path, 'at least one of succeededCount or succeededIndexes must be specified');
  const intervals = succeededIndexes === undefined ? undefined : parseIndexes(succeededIndexes);
  const isPossible = intervals?.every(({last}) => last < completions) ?? false;
  if (succeededIndexes !== undefined && !isPossible)
    yield invalidValue(
      path.child('succeededIndexes'),
      succeededIndexes,
      `must be increasing indexes and intervals below ${completions} (the number of completions), such as 1,3-5`,
    );
  const count = path.child('succeededCount');
  yield* validateNonNegative(succeededCount, count);
  yield* validateMost(succeededCount, count, completions, ' (the number of specified completions)');
  const size = (intervals ?? []).reduce((sum, {first, last}) => sum + last - first + 1, 0);
  if (isPossible)
    yield* validateMost(
      succeededCount,
      count,
      size,
      ' (the number of indexes in the specified succeededIndexes field)',
    );
}

const LONGEST_MANAGER = 63;

/** Validates the name of the controller that runs a Job instead of the built-in one (IsDomainPrefixedPath). */
function* validateManager(name: string, path: FieldPath): FieldErrors {
  const [domain = '', ...segments] = name.split('/');
  const rest = segments.join('/');
  if (name === '') yield requiredValue(path);
  else if (domain === '' || rest === '')
    yield invalidValue(path, name, 'must be a domain-prefixed path (such as "acme.io/foo")');
  else {
    yield* validateName(domain, path, checkDnsSubdomain);
    if (!HTTP_PATH.test(rest)) yield invalidValue(path, name, 'Invalid path');
  }
  if (name.length > LONGEST_MANAGER) yield tooLong(path, LONGEST_MANAGER);
}

const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Validates the spec of a Job, except for its template and selector (validateJobSpec). */
export function* validateJobSpec(spec: JobSpec, path: FieldPath): FieldErrors {
  for (const name of COUNTS) yield* validateNonNegative(spec[name], path.child(name));
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    yield requiredValue(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified');
  yield* validateIfSet(spec.managedBy, path.child('managedBy'), validateManager);
  yield* validateCompletionMode(spec, path);
  yield* validateIfSet(spec.podFailurePolicy, path.child('podFailurePolicy'), (policy, at) =>
    validateFailurePolicy(policy, at, spec),
  );
  if (spec.podFailurePolicy !== undefined && spec.podReplacementPolicy === 'TerminatingOrFailed')
    yield unsupportedValue(path.child('podReplacementPolicy'), spec.podReplacementPolicy, ['Failed']);
  yield* validateRestartPolicy(spec, path);
}

const JOB_NAME_LABELS = ['job-name', 'batch.kubernetes.io/job-name'];
const GENERATED_LABELS = [...JOB_NAME_LABELS, 'controller-uid', 'batch.kubernetes.io/controller-uid'];

function* validateNameLabels(
  labels: Readonly<Record<string, string>>,
  path: FieldPath,
  name: string,
): FieldErrors {
  for (const label of JOB_NAME_LABELS)
    if (labels[label] !== undefined && labels[label] !== name)
      yield invalidValue(path.key(label), labels[label], `must be '${name}'`);
}

/**
 * Validates the selector (validateGeneratedSelector): an API server generates it, unless it is said to be manual. That
 * of an exported Job, which selects the labels in its template, is accepted like other fields that a server added.
 */
function* validateSelector({metadata: {name = ''}, spec}: Job): FieldErrors {
  const {selector, manualSelector = false, template} = spec;
  const path = new FieldPath(['spec']);
  const labels = template.metadata?.labels ?? {};
  const at = path.child('template', 'metadata', 'labels');
  yield* validateLabelSelector(selector, path.child('selector'));
  if (manualSelector) {
    if (selector === undefined) yield requiredValue(path.child('selector'));
    else if (!matchesLabelSelector(selector, labels))
      yield invalidValue(at, labels, '`selector` does not match template `labels`');
    return;
  }
  yield* validateNameLabels(labels, at, name);
  if (selector === undefined) return;
  const generated = Object.fromEntries(
    GENERATED_LABELS.map((label) => [label, JOB_NAME_LABELS.includes(label) ? name : (labels[label] ?? '')]),
  );
  if (!matchesLabelSelector(selector, generated))
    yield invalidValue(path.child('selector'), selector, '`selector` not auto-generated');
}

/** Validates a Job, except for the template of its pods (ValidateJob). */
export function* validateJob(job: Job): FieldErrors {
  const {metadata, spec} = job;
  yield* validateSelector(job);
  yield* validateJobSpec(spec, new FieldPath(['spec']));
  const {completionMode, completions = 0} = spec;
  const {name = ''} = metadata;
  const longest = `${name}-${completions - 1}`;
  if (completionMode === 'Indexed' && completions > 0 && name !== '' && checkDnsLabel(longest).length > 0)
    yield invalidValue(
      new FieldPath(['metadata', 'name']),
      name,
      `will not able to create pod with invalid DNS label: ${longest}`,
    );
}
