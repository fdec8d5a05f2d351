import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkDnsLabel, validateName} from './validate-names.js';
import {compareQuantities} from '../quantity.js';
import type {VolumeSourceValidators, VolumeSourceValidator} from './validate-attached-volumes.js';
import {ATTACHED_VOLUME_VALIDATORS} from './validate-attached-volumes.js';
import {
  validateEach,
  validateRequired,
  validateFileMode,
  validateFilePath,
  validateNoBacksteps,
  validateUnique,
  validateIfSet,
} from './field-validators.js';
import {validateFieldRef, validateResourceFieldRef} from './validate-env.js';
import {validateLabelSelector} from './validate-metadata.js';
import type {
  ClusterTrustBundleProjection,
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
  VolumeSource,
} from '../types/v1-volumes.js';

/** Fields that a downward API file can refer to (validVolumeDownwardAPIFieldPathExpressions). */
const VOLUME_FIELD_PATHS: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];
const KEY_TYPES: readonly string[] = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const LEAST_TOKEN_SECONDS = 600;
const LEAST_CERTIFICATE_SECONDS = 3600;
const MOST_CERTIFICATE_SECONDS = 91 * 86_400;

function* validateHostPath(source: HostPathVolumeSource, path: FieldPath): FieldErrors {
  yield* validateRequired(source.path, path.child('path'));
  yield* validateNoBacksteps(source.path, path.child('path'));
}

function* validateEmptyDir({sizeLimit}: EmptyDirVolumeSource, path: FieldPath): FieldErrors {
  if (sizeLimit !== undefined && compareQuantities(sizeLimit, '0') < 0) {
    yield forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity');
  }
}

function* validateItem(item: KeyToPath, path: FieldPath): FieldErrors {
  yield* validateRequired(item.key, path.child('key'));
  yield* validateRequired(item.path, path.child('path'));
  yield* validateFilePath(item.path, path.child('path'));
  yield* validateFileMode(item.mode, path.child('mode'));
}

function* validateSecret(source: SecretVolumeSource, path: FieldPath): FieldErrors {
  yield* validateRequired(source.secretName, path.child('secretName'));
  yield* validateFileMode(source.defaultMode, path.child('defaultMode'));
  yield* validateEach(source.items, path.child('items'), validateItem);
}

function* validateConfigMap(source: ConfigMapVolumeSource, path: FieldPath): FieldErrors {
  yield* validateRequired(source.name, path.child('name'));
  yield* validateFileMode(source.defaultMode, path.child('defaultMode'));
  yield* validateEach(source.items, path.child('items'), validateItem);
}

/** Validates a file of a downward API volume (validateDownwardAPIVolumeFile). */
function* validateDownwardFile(file: DownwardAPIVolumeFile, path: FieldPath): FieldErrors {
  yield* validateRequired(file.path, path.child('path'));
  yield* validateFilePath(file.path, path.child('path'));
  yield* validateFileMode(file.mode, path.child('mode'));
  if (file.fieldRef !== undefined) {
    yield* validateFieldRef(file.fieldRef, path.child('fieldRef'), VOLUME_FIELD_PATHS);
    if (file.resourceFieldRef !== undefined) {
      yield invalidValue(
        path,
        'resource',
        'fieldRef and resourceFieldRef can not be specified simultaneously',
      );
    }
  } else if (file.resourceFieldRef !== undefined) {
    yield* validateResourceFieldRef(file.resourceFieldRef, path.child('resourceFieldRef'), true);
  } else {
    yield requiredValue(path, 'one of fieldRef and resourceFieldRef is required');
  }
}

function* validateDownwardApi(source: DownwardAPIVolumeSource, path: FieldPath): FieldErrors {
  yield* validateFileMode(source.defaultMode, path.child('defaultMode'));
  yield* validateEach(source.items, path.child('items'), validateDownwardFile);
}

function* validateImage({reference}: ImageVolumeSource, path: FieldPath): FieldErrors {
  yield* validateRequired(reference, path.child('reference'));
}

function* validateToken(token: ServiceAccountTokenProjection, path: FieldPath): FieldErrors {
  const seconds = token.expirationSeconds;
  const at = path.child('expirationSeconds');
  if (seconds !== undefined && seconds < LEAST_TOKEN_SECONDS) {
    yield invalidValue(at, seconds, 'may not specify a duration less than 10 minutes');
  }
  if (seconds !== undefined && seconds > 2 ** 32) {
    yield invalidValue(at, seconds, 'may not specify a duration larger than 2^32 seconds');
  }
  yield* validateRequired(token.path, path.child('path'));
  yield* validateFilePath(token.path, path.child('path'));
}

function* validateTrustBundle(bundle: ClusterTrustBundleProjection, path: FieldPath): FieldErrors {
  const {name, signerName, labelSelector} = bundle;
  if (name !== undefined && signerName !== undefined) {
    yield invalidValue(path, name, 'only one of name and signerName may be used');
  } else if (name === undefined && signerName === undefined) {
    yield requiredValue(path, 'either name or signerName must be specified');
  }
  if (name === '') yield requiredValue(path.child('name'), 'must be a valid object name');
  if (signerName === '') yield requiredValue(path.child('signerName'), 'must be a valid signer name');
  if (name !== undefined && labelSelector !== undefined) {
    yield invalidValue(
      path.child('labelSelector'),
      labelSelector,
      'labelSelector must be unset if name is specified',
    );
  }
  yield* validateLabelSelector(labelSelector, path.child('labelSelector'));
  yield* validateRequired(bundle.path, path.child('path'));
  yield* validateFilePath(bundle.path, path.child('path'));
}

const CERTIFICATE_PATHS = ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const;

function* validateCertificate(certificate: PodCertificateProjection, path: FieldPath): FieldErrors {
  const {signerName, keyType = '', maxExpirationSeconds: seconds} = certificate;
  yield* validateRequired(signerName, path.child('signerName'));
  if (!KEY_TYPES.includes(keyType)) yield unsupportedValue(path.child('keyType'), keyType, KEY_TYPES);
  const at = path.child('maxExpirationSeconds');
  if (seconds !== undefined && seconds < LEAST_CERTIFICATE_SECONDS) {
    yield invalidValue(
      at,
      seconds,
      `if provided, maxExpirationSeconds must be >= ${LEAST_CERTIFICATE_SECONDS}`,
    );
  }
  if (seconds !== undefined && seconds > MOST_CERTIFICATE_SECONDS) {
    yield invalidValue(
      at,
      seconds,
      `if provided, maxExpirationSeconds must be <= ${MOST_CERTIFICATE_SECONDS}`,
    );
  }
  for (const name of CERTIFICATE_PATHS) {
    yield* validateIfSet(certificate[name] ?? undefined, path.child(name), validateFilePath);
  }
  if (CERTIFICATE_PATHS.every((name) => (certificate[name] ?? '') === '')) {
    yield requiredValue(
      path,
      'specify at least one of credentialBundlePath, keyPath, and certificateChainPath',
    );
  }
}

function* validateProjectedItems(
  source: {readonly name?: string; readonly items?: readonly KeyToPath[]},
  path: FieldPath,
): FieldErrors {
  yield* validateRequired(source.name, path.child('name'));
  yield* validateEach(source.items, path.child('items'), validateItem);
}

function* validateProjection(projection: VolumeProjection, path: FieldPath): FieldErrors {
  yield* validateIfSet(projection.secret, path.child('secret'), validateProjectedItems);
  yield* validateIfSet(projection.configMap, path.child('configMap'), validateProjectedItems);
  yield* validateIfSet(projection.downwardAPI, path.child('downwardAPI'), ({items}, at) =>
    validateEach(items, at.child('items'), validateDownwardFile),
  );
  yield* validateIfSet(projection.serviceAccountToken, path.child('serviceAccountToken'), validateToken);
  yield* validateIfSet(projection.clusterTrustBundle, path.child('clusterTrustBundle'), validateTrustBundle);
  yield* validateIfSet(projection.podCertificate, path.child('podCertificate'), validateCertificate);
  if (Object.keys(projection).length > 1) {
    yield forbidden(path, 'may not specify more than 1 volume type per source');
  }
}

/** Returns the paths of all files of a projection. */
function projectedPaths(projection: VolumeProjection): readonly string[] {
  const {secret, configMap, downwardAPI, clusterTrustBundle, podCertificate} = projection;
  const items = [...(secret?.items ?? []), ...(configMap?.items ?? []), ...(downwardAPI?.items ?? [])];
  const certificates = CERTIFICATE_PATHS.map((name) => podCertificate?.[name] ?? '');
  return [...items.map(({path}) => path), clusterTrustBundle?.path ?? '', ...certificates].filter(Boolean);
}

function* validateProjected(source: ProjectedVolumeSource, path: FieldPath): FieldErrors {
  yield* validateFileMode(source.defaultMode, path.child('defaultMode'));
  yield* validateEach(source.sources, path.child('sources'), validateProjection);
  const seen = new Set<string>();
  for (const [index, projection] of source.sources.entries()) {
    for (const file of projectedPaths(projection)) {
      if (seen.has(file)) {
        yield invalidValue(path.child('sources').index(index), file, 'conflicting duplicate paths');
      }
      seen.add(file);
    }
  }
}

const SOURCES: VolumeSourceValidators = {
  ...ATTACHED_VOLUME_VALIDATORS,
  configMap: validateConfigMap,
  downwardAPI: validateDownwardApi,
  emptyDir: validateEmptyDir,
  hostPath: validateHostPath,
  image: validateImage,
  projected: validateProjected,
  secret: validateSecret,
};

function validateSource<Name extends keyof VolumeSource>(
  name: Name,
  source: Required<VolumeSource>[Name],
  path: FieldPath,
): FieldErrors {
  const validate: VolumeSourceValidator<Required<VolumeSource>[Name]> = SOURCES[name];
  return validate(source, path.child(name));
}

/** Validates one volume; of several sources, the first counts and the others are rejected (validateVolumeSource). */
function* validateVolume({name, ...sources}: Volume, path: FieldPath): FieldErrors {
  if (name === '') yield requiredValue(path.child('name'));
  else yield* validateName(name, path.child('name'), checkDnsLabel);
  const kinds = Object.keys(sources) as (keyof VolumeSource)[];
  const [first, ...others] = kinds;
  const source = first && sources[first];
  if (first === undefined || source === undefined) yield requiredValue(path, 'must specify a volume type');
  else yield* validateSource(first, source, path);
  for (const other of others) yield forbidden(path.child(other), 'may not specify more than 1 volume type');
}

/** Validates the volumes of a pod (ValidateVolumes). */
export function* validateVolumes(volumes: readonly Volume[], path: FieldPath): FieldErrors {
  yield* validateEach(volumes, path, validateVolume);
  yield* validateUnique(volumes.map(({name}, index) => [name, path.index(index).child('name')] as const));
}
