import type {FieldError, FieldErrors} from '../field-error.js';
import {duplicateValue, invalidValue, requiredValue, tooLong} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {canonicalJson} from '../container-hash.js';
import {checkConfigKey, checkDnsLabel, validateName} from './validate-names.js';
import {validateEach, validateIfSet} from './field-validators.js';
import {validateLabels, validateObjectMeta} from './validate-metadata.js';
import {validateOverhead} from './validate-resources.js';
import {validateToleration} from './validate-scheduling.js';
import {validateClaimSpec} from './validate-attached-volumes.js';
import {validateEnumerations} from './validate-enumerations.js';
import {manifestClaim} from '../types/v1-persistent-volumes.js';
import {runtimeClass} from '../types/v1-objects.js';
import type {ManifestClaim} from '../types/v1-persistent-volumes.js';
import {validateDeviceObject} from './validate-device-resources.js';
import {
  validateAttributesClass,
  validateCsiDriver,
  validatePersistentVolume,
  validateStorageClass,
} from './validate-storage.js';
import {validateService} from './validate-service.js';
import {
  isClusterScoped,
  type ApiObject,
  type ConfigMap,
  type RuntimeClass,
  type Scheduling,
  type Secret,
} from '../types/v1-objects.js';

/** Maximum size of the data of a ConfigMap or Secret: 1 MiB. */
const MOST_DATA_BYTES = 1024 * 1024;

type Contents = Readonly<Record<string, string | Uint8Array>>;

const root = new FieldPath();

function* validateKeys(contents: Contents, path: FieldPath): FieldErrors {
  for (const key of Object.keys(contents)) yield* validateName(key, path.key(key), checkConfigKey);
}

function sizeOf(contents: Contents): number {
  return Object.values(contents).reduce((sum, value) => sum + Buffer.byteLength(value), 0);
}

/** Validates a ConfigMap (ValidateConfigMap). */
function* validateConfigMap({data = {}, binaryData = {}}: ConfigMap): FieldErrors {
  yield* validateKeys(data, root.child('data'));
  for (const key of Object.keys(data))
    if (Object.hasOwn(binaryData, key))
      yield invalidValue(root.child('data').key(key), key, 'duplicate of key present in binaryData');
  yield* validateKeys(binaryData, root.child('binaryData'));
  if (sizeOf(data) + sizeOf(binaryData) > MOST_DATA_BYTES) yield tooLong(root, MOST_DATA_BYTES);
}

/** Required keys of a Secret by its type (ValidateSecret). */
const REQUIRED_KEYS: Readonly<Record<string, (secret: Secret, path: FieldPath) => FieldErrors>> = {
  'kubernetes.io/service-account-token': requireAccount,
  'kubernetes.io/dockercfg': (secret, path) => requireJson(secret, path.key('.dockercfg'), '.dockercfg'),
  'kubernetes.io/dockerconfigjson': (secret, path) =>
    requireJson(secret, path.key('.dockerconfigjson'), '.dockerconfigjson'),
  'kubernetes.io/basic-auth': requireUserOrPassword,
  'kubernetes.io/ssh-auth': requireSshKey,
  'kubernetes.io/tls': (secret, path) => requireKeys(secret, path, ['tls.crt', 'tls.key']),
};

const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

function* requireAccount({metadata}: Secret): FieldErrors {
  if ((metadata.annotations?.[ACCOUNT_ANNOTATION] ?? '') === '')
    yield requiredValue(root.child('metadata', 'annotations').key(ACCOUNT_ANNOTATION));
}

function* requireKeys({data = {}}: Secret, path: FieldPath, keys: readonly string[]): FieldErrors {
  for (const key of keys) if (!Object.hasOwn(data, key)) yield requiredValue(path.key(key));
}

function* requireUserOrPassword(secret: Secret, path: FieldPath): FieldErrors {
  const keys = ['username', 'password'];
  if (!keys.some((key) => Object.hasOwn(secret.data ?? {}, key))) yield* requireKeys(secret, path, keys);
}

function* requireSshKey({data = {}}: Secret, path: FieldPath): FieldErrors {
  const key = 'ssh-privatekey';
  if ((data[key] ?? []).length === 0) yield requiredValue(path.key(key));
}

function* requireJson({data = {}}: Secret, path: FieldPath, key: string): FieldErrors {
  const content = data[key];
  if (content === undefined) yield requiredValue(path);
  else if (!isJsonObject(content))
    yield invalidValue(path, '<secret contents redacted>', 'must be an object in JSON');
}

function isJsonObject(content: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(Buffer.from(content).toString());
    return typeof value === 'object' && !Array.isArray(value);
  } catch (error) {
    // The parser's message quotes the text.
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Validates a Secret (ValidateSecret). */
function* validateSecret(secret: Secret): FieldErrors {
  const path = root.child('data');
  const {data = {}, type = ''} = secret;
  yield* validateKeys(data, path);
  if (sizeOf(data) > MOST_DATA_BYTES) yield tooLong(path, MOST_DATA_BYTES);
  if (Object.hasOwn(REQUIRED_KEYS, type)) yield* REQUIRED_KEYS[type]?.(secret, path) ?? [];
}

function* validateScheduling({nodeSelector, tolerations = []}: Scheduling, path: FieldPath): FieldErrors {
  yield* validateLabels(nodeSelector, path.child('nodeSelector'));
  yield* validateEach(tolerations, path.child('tolerations'), validateToleration);
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const key = canonicalJson(toleration);
    if (seen.has(key)) yield duplicateValue(path.child('tolerations').index(index), toleration);
    seen.add(key);
  }
}

/** Validates a RuntimeClass (ValidateRuntimeClass). */
function* validateRuntimeClass(object: RuntimeClass): FieldErrors {
  const {handler, overhead, scheduling} = object;
  yield* validateEnumerations(runtimeClass, {scheduling}, root);
  yield* validateName(handler, root.child('handler'), checkDnsLabel);
  yield* validateIfSet(overhead?.podFixed, root.child('overhead', 'podFixed'), validateOverhead);
  yield* validateIfSet(scheduling, root.child('scheduling'), validateScheduling);
}

function* validateClaim({spec}: ManifestClaim): FieldErrors {
  yield* validateEnumerations(manifestClaim, {spec}, root);
  yield* validateClaimSpec(spec, root.child('spec'));
}

function* validateContents(object: ApiObject): FieldErrors {
  if (object.kind === 'ConfigMap') yield* validateConfigMap(object);
  if (object.kind === 'Secret') yield* validateSecret(object);
  if (object.kind === 'RuntimeClass') yield* validateRuntimeClass(object);
  if (object.kind === 'Service') yield* validateService(object);
  if (object.kind === 'PersistentVolumeClaim') yield* validateClaim(object);
  if (object.kind === 'PersistentVolume') yield* validatePersistentVolume(object);
  if (object.kind === 'StorageClass') yield* validateStorageClass(object);
  if (object.kind === 'VolumeAttributesClass') yield* validateAttributesClass(object);
  if (object.kind === 'CSIDriver') yield* validateCsiDriver(object);
  yield* validateDeviceObject(object);
}

/**
 * Validates an object that Pods may refer to and returns the API server's messages, never with values of a Secret. The
 * object must have its defaults (applyObjectDefaults).
 */
export function validateObject(object: ApiObject): readonly FieldError[] {
  const namespaced = !isClusterScoped(object);
  return [
    ...validateObjectMeta(object.metadata, root.child('metadata'), {namespaced}),
    ...validateContents(object),
  ];
}
