import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, tooLong} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {
  checkDnsLabel,
  checkDnsSubdomain,
  checkLabelValue,
  checkQualifiedName,
  validateName,
} from './validate-names.js';
import {validateEach, validateRequired, validateNonNegative} from './field-validators.js';
import type {LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference} from '../types/v1-meta.js';

const MOST_ANNOTATION_BYTES = 256 * 1024;

/** Validates the key of a label (ValidateLabelName). */
export function* validateLabelName(name: string, path: FieldPath): FieldErrors {
  yield* validateName(name, path, checkQualifiedName);
}

/** Validates labels and reports errors at the entry (ValidateLabels, which reports them at the map). */
export function* validateLabels(
  labels: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldErrors {
  for (const [key, value] of Object.entries(labels ?? {})) {
    yield* validateLabelName(key, path.key(key));
    yield* validateName(value, path.key(key), checkLabelValue);
  }
}

/** Validates annotations: keys, ignoring case, and a total size of at most 256 KiB (ValidateAnnotations). */
export function* validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: FieldPath,
): FieldErrors {
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    for (const problem of checkQualifiedName(key.toLowerCase()))
      yield invalidValue(path.key(key), key, problem);
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MOST_ANNOTATION_BYTES) yield tooLong(path, MOST_ANNOTATION_BYTES);
}

function* validateOwner(owner: OwnerReference, path: FieldPath): FieldErrors {
  if (owner.apiVersion === '') yield invalidValue(path.child('apiVersion'), '', 'version must not be empty');
  for (const name of ['kind', 'name', 'uid'] as const) {
    if (owner[name] === '') yield invalidValue(path.child(name), '', 'must not be empty');
  }
}

function* validateOwners(owners: readonly OwnerReference[], path: FieldPath): FieldErrors {
  yield* validateEach(owners, path, validateOwner);
  const [first, second] = owners.filter(({controller}) => controller === true);
  if (first === undefined || second === undefined) return;
  const names = [first, second].map(({kind, name}) => `${kind}/${name}`).join(' and ');
  const rule = 'Only one reference can have Controller set to true';
  yield invalidValue(path, owners, `${rule}. Found "true" in references for ${names}`);
}

function* validateNamespace(namespace: string, path: FieldPath, namespaced: boolean): FieldErrors {
  if (namespaced) yield* validateRequired(namespace, path);
  if (namespace === '') return;
  if (namespaced) yield* validateName(namespace, path, checkDnsLabel);
  else yield forbidden(path, 'not allowed on this type');
}

/** Validates the metadata of an object; its name must be a DNS subdomain by default (ValidateObjectMeta). */
export function* validateObjectMeta(
  metadata: ObjectMeta,
  path: FieldPath,
  {namespaced = true}: {readonly namespaced?: boolean} = {},
): FieldErrors {
  const {name = '', namespace = '', generateName = ''} = metadata;
  if (generateName !== '') {
    yield* validateName(generateName.replace(/-$/, 'a'), path.child('generateName'), checkDnsSubdomain);
  }
  if (name === '') yield requiredValue(path.child('name'), 'name or generateName is required');
  else yield* validateName(name, path.child('name'), checkDnsSubdomain);
  yield* validateNamespace(namespace, path.child('namespace'), namespaced);
  yield* validateNonNegative(metadata.generation, path.child('generation'));
  yield* validateLabels(metadata.labels, path.child('labels'));
  yield* validateAnnotations(metadata.annotations ?? {}, path.child('annotations'));
  yield* validateOwners(metadata.ownerReferences ?? [], path.child('ownerReferences'));
  yield* validateEach(metadata.finalizers, path.child('finalizers'), (finalizer, at) =>
    validateName(finalizer, at, checkQualifiedName),
  );
}

function* validateRequirement(requirement: LabelSelectorRequirement, path: FieldPath): FieldErrors {
  const {key, operator, values} = requirement;
  yield* validateOperands({operator, values}, path.child('values'));
  yield* validateLabelName(key, path.child('key'));
  yield* validateEach(values, path.child('values'), (value, at) => validateName(value, at, checkLabelValue));
}

/** Checks that In and NotIn have values, and Exists and DoesNotExist have none. */
export function* validateOperands(
  {operator, values = []}: {readonly operator: string; readonly values?: readonly string[] | undefined},
  path: FieldPath,
): FieldErrors {
  if (['In', 'NotIn'].includes(operator) && values.length === 0) {
    yield requiredValue(path, "must be specified when `operator` is 'In' or 'NotIn'");
  }
  if (['Exists', 'DoesNotExist'].includes(operator) && values.length > 0) {
    yield forbidden(path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  }
}

/** Validates a label selector (ValidateLabelSelector). */
export function* validateLabelSelector(selector: LabelSelector | undefined, path: FieldPath): FieldErrors {
  yield* validateLabels(selector?.matchLabels, path.child('matchLabels'));
  yield* validateEach(selector?.matchExpressions, path.child('matchExpressions'), validateRequirement);
}
