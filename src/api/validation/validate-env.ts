import type {FieldErrors} from '../field-error.js';
import {invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {
  checkConfigKey,
  checkDnsLabel,
  checkDnsSubdomain,
  checkEnvName,
  checkQualifiedName,
  validateName,
} from './validate-names.js';
import {canonicalizeQuantity, parseQuantity} from '../quantity.js';
import {validateEach, validateRequired, validateNoBacksteps, validateIfSet} from './field-validators.js';
import type {EnvFromSource, EnvVar, EnvVarSource} from '../types/v1-pod.js';
import type {LocalObjectReference, Quantity} from '../types/v1-meta.js';
import type {FileKeySelector, ObjectFieldSelector, ResourceFieldSelector} from '../types/v1-selectors.js';

/** Fields of a pod that any fieldRef can refer to (ConvertDownwardAPIFieldLabel). */
const CONVERTIBLE_FIELDS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Fields that the fieldRef of an environment variable can refer to (validEnvDownwardAPIFieldPathExpressions). */
const ENV_FIELD_PATHS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

const RESOURCE_NAMES: readonly string[] = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const HUGE_PAGE_RESOURCE = /^(limits|requests)\.hugepages-/;

const SIZE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

interface Divisors {
  readonly resource: RegExp;
  readonly allowed: readonly string[];
  readonly problem: string;
}

function sizeDivisors(resource: RegExp, name: string): Divisors {
  const problem = `only divisor's values ${SIZE_DIVISORS.join(', ')} are supported with the ${name} resource`;
  return {resource, allowed: SIZE_DIVISORS, problem};
}

const DIVISORS: readonly Divisors[] = [
  {
    resource: /\.cpu$/,
    allowed: ['1m', '1'],
    problem: "only divisor's values 1m and 1 are supported with the cpu resource",
  },
  sizeDivisors(/\.memory$/, 'memory'),
  sizeDivisors(/\.ephemeral-storage$/, 'local ephemeral storage'),
  sizeDivisors(HUGE_PAGE_RESOURCE, 'hugepages'),
];

function* validateDivisor(resource: string, divisor: Quantity, path: FieldPath): FieldErrors {
  if (parseQuantity(divisor).nanos === 0n) return;
  const rule = DIVISORS.find((candidate) => candidate.resource.test(resource));
  if (rule !== undefined && !rule.allowed.includes(canonicalizeQuantity(divisor))) {
    yield invalidValue(path, resource, rule.problem);
  }
}

/** Validates a resourceFieldRef (validateContainerResourceFieldSelector); in a volume it must name a container. */
export function* validateResourceFieldRef(
  selector: ResourceFieldSelector,
  path: FieldPath,
  needsContainer: boolean,
): FieldErrors {
  const {containerName = '', resource, divisor = '0'} = selector;
  if (needsContainer && containerName === '') yield requiredValue(path.child('containerName'));
  else if (resource === '') yield requiredValue(path.child('resource'));
  else if (!RESOURCE_NAMES.includes(resource) && !HUGE_PAGE_RESOURCE.test(resource)) {
    yield unsupportedValue(path.child('resource'), resource, RESOURCE_NAMES);
  }
  yield* validateDivisor(resource, divisor, path.child('divisor'));
}

/** Splits a fieldPath with a key, such as `metadata.labels['app']` (fieldpath.SplitMaybeSubscriptedPath). */
export function splitFieldPath(fieldPath: string): {
  readonly field: string;
  readonly key: string | undefined;
} {
  const [, field, key] = /^([^]+?)\['([^]*)'\]$/.exec(fieldPath) ?? [];
  return field === undefined ? {field: fieldPath, key: undefined} : {field, key};
}

function conversionProblem(apiVersion: string, fieldPath: string): string | undefined {
  if (apiVersion !== 'v1') return `unsupported pod version: ${apiVersion}`;
  const {field, key} = splitFieldPath(fieldPath);
  if (key !== undefined) {
    const keyed = ['metadata.annotations', 'metadata.labels'].includes(field);
    return keyed ? undefined : `field label does not support subscript: ${fieldPath}`;
  }
  return [...CONVERTIBLE_FIELDS, 'spec.host'].includes(fieldPath)
    ? undefined
    : `field label not supported: ${fieldPath}`;
}

/**
 * Validates a fieldRef (validateObjectFieldSelector); `supported` are the fields that it can refer to without a key.
 */
export function* validateFieldRef(
  {apiVersion = '', fieldPath}: ObjectFieldSelector,
  path: FieldPath,
  supported: readonly string[],
): FieldErrors {
  if (apiVersion === '') return yield requiredValue(path.child('apiVersion'));
  if (fieldPath === '') return yield requiredValue(path.child('fieldPath'));
  const problem = conversionProblem(apiVersion, fieldPath);
  if (problem !== undefined) {
    return yield invalidValue(path.child('fieldPath'), fieldPath, `error converting fieldPath: ${problem}`);
  }
  const {field, key} = splitFieldPath(fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath);
  if (key !== undefined) {
    const name = field === 'metadata.annotations' ? key.toLowerCase() : key;
    yield* validateName(name, path.child('fieldPath'), checkQualifiedName);
  } else if (!supported.includes(field)) {
    yield unsupportedValue(path.child('fieldPath'), field, supported);
  }
}

function* validateKeyRef(
  selector: {readonly name?: string; readonly key: string},
  path: FieldPath,
): FieldErrors {
  yield* validateName(selector.name ?? '', path.child('name'), checkDnsSubdomain);
  if (selector.key === '') yield requiredValue(path.child('key'));
  else yield* validateName(selector.key, path.child('key'), checkConfigKey);
}

function* validateFileKeyRef(selector: FileKeySelector, path: FieldPath): FieldErrors {
  yield* validateRequired(selector.key, path.child('key'));
  if (selector.key !== '') yield* validateName(selector.key, path.child('key'), checkEnvName);
  yield* validateRequired(selector.volumeName, path.child('volumeName'));
  if (selector.volumeName !== '') {
    yield* validateName(selector.volumeName, path.child('volumeName'), checkDnsLabel);
  }
  yield* validateRequired(selector.path, path.child('path'));
  yield* validateNoBacksteps(selector.path, path.child('path'));
}

function* validateSource(source: EnvVarSource, path: FieldPath): FieldErrors {
  yield* validateIfSet(source.fieldRef, path.child('fieldRef'), (ref, at) =>
    validateFieldRef(ref, at, ENV_FIELD_PATHS),
  );
  yield* validateIfSet(source.resourceFieldRef, path.child('resourceFieldRef'), (ref, at) =>
    validateResourceFieldRef(ref, at, false),
  );
  yield* validateIfSet(source.configMapKeyRef, path.child('configMapKeyRef'), validateKeyRef);
  yield* validateIfSet(source.secretKeyRef, path.child('secretKeyRef'), validateKeyRef);
  yield* validateIfSet(source.fileKeyRef, path.child('fileKeyRef'), validateFileKeyRef);
}

const ENV_SOURCES = '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';

function* validateValueFrom({value = ''}: EnvVar, source: EnvVarSource, path: FieldPath): FieldErrors {
  yield* validateSource(source, path);
  const sources = Object.keys(source).length;
  if (sources === 0) yield invalidValue(path, '', `must specify one of: ${ENV_SOURCES}`);
  else if (value !== '') yield invalidValue(path, '', 'may not be specified when `value` is not empty');
  else if (sources > 1) yield invalidValue(path, '', 'may not have more than one field specified at a time');
}

/** Validates environment variables (ValidateEnv). */
function* validateEnv(variable: EnvVar, path: FieldPath): FieldErrors {
  if (variable.name === '') yield requiredValue(path.child('name'));
  else yield* validateName(variable.name, path.child('name'), checkEnvName);
  yield* validateIfSet(variable.valueFrom, path.child('valueFrom'), (source, at) =>
    validateValueFrom(variable, source, at),
  );
}

function* validateReference({name = ''}: LocalObjectReference, path: FieldPath): FieldErrors {
  if (name === '') yield requiredValue(path.child('name'));
  else yield* validateName(name, path.child('name'), checkDnsSubdomain);
}

/** Validates sources of environment variables (ValidateEnvFrom). */
function* validateEnvFrom(source: EnvFromSource, path: FieldPath): FieldErrors {
  const {prefix = '', configMapRef, secretRef} = source;
  if (prefix !== '') yield* validateName(prefix, path.child('prefix'), checkEnvName);
  yield* validateIfSet(configMapRef, path.child('configMapRef'), validateReference);
  yield* validateIfSet(secretRef, path.child('secretRef'), validateReference);
  if (configMapRef === undefined && secretRef === undefined) {
    yield invalidValue(path, '', 'must specify one of: `configMapRef` or `secretRef`');
  } else if (configMapRef !== undefined && secretRef !== undefined) {
    yield invalidValue(path, '', 'may not have more than one field specified at a time');
  }
}

/** Validates a container's environment (ValidateEnv, ValidateEnvFrom). */
export function* validateEnvironment(
  {env, envFrom}: {readonly env?: readonly EnvVar[]; readonly envFrom?: readonly EnvFromSource[]},
  path: FieldPath,
): FieldErrors {
  yield* validateEach(env, path.child('env'), validateEnv);
  yield* validateEach(envFrom, path.child('envFrom'), validateEnvFrom);
}
