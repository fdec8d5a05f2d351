import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, tooLong} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {checkDnsLabel, checkDnsSubdomain, validateName} from './validate-names.js';
import {canonicalJson} from '../container-hash.js';
import {compareQuantities} from '../quantity.js';
import {validateRequired, validateDescendingPath, validateRange, validateIfSet} from './field-validators.js';
import {validateAnnotations, validateLabels, validateLabelSelector} from './validate-metadata.js';
import type {
  AWSElasticBlockStoreVolumeSource,
  CSIVolumeSource,
  CinderVolumeSource,
  EphemeralVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  GCEPersistentDiskVolumeSource,
  GitRepoVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  PersistentVolumeAccessMode,
  PersistentVolumeClaimSpec,
  PersistentVolumeClaimTemplate,
  StorageOSVolumeSource,
} from '../types/v1-attached-volumes.js';
import {ACCESS_MODES} from '../types/v1-attached-volumes.js';
import type {LocalObjectReference, ObjectMeta, TypedObjectReference} from '../types/v1-meta.js';
import type {VolumeSource} from '../types/v1-volumes.js';

/** Checks one kind of volume source at its path. */
export type VolumeSourceValidator<Source> = (source: Source, path: FieldPath) => FieldErrors;

/** One check for each kind of volume source. */
export type VolumeSourceValidators<Names extends keyof VolumeSource = keyof VolumeSource> = {
  readonly [Name in Names]: VolumeSourceValidator<Required<VolumeSource>[Name]>;
};

const LONGEST_DRIVER_NAME = 63;
const ISCSI_NAMES = [
  /^iqn\.\d{4}-\d{2}\.([a-zA-Z0-9.-]+)(:[^,;*&$|\s]+)$/,
  /^eui.[a-zA-Z0-9]{16}$/,
  /^naa.[a-zA-Z0-9]{32}$/,
];

/** Fields that must not be empty, for kinds without other rules. */
function needs<Source extends object>(
  ...names: readonly (keyof Source & string)[]
): VolumeSourceValidator<Source> {
  return function* (source, path) {
    for (const name of names) {
      const value = source[name];
      const empty = Array.isArray(value) ? value.length === 0 : value === undefined || value === '';
      if (empty) yield requiredValue(path.child(name));
    }
  };
}

function* validatePartition(disk: {readonly partition?: number}, path: FieldPath): FieldErrors {
  const {partition = 0} = disk;
  if (partition < 0 || partition > 255) {
    yield invalidValue(path.child('partition'), partition, 'must be between 1 and 255, inclusive');
  }
}

function both<Source>(...checks: readonly VolumeSourceValidator<Source>[]): VolumeSourceValidator<Source> {
  return function* (source, path) {
    for (const check of checks) yield* check(source, path);
  };
}

function* validateGitDirectory({directory = ''}: GitRepoVolumeSource, path: FieldPath): FieldErrors {
  yield* validateDescendingPath(directory, path.child('directory'));
}

function* validateNfsPath({path: directory}: NFSVolumeSource, path: FieldPath): FieldErrors {
  if (!directory.startsWith('/')) {
    yield invalidValue(path.child('path'), directory, 'must be an absolute path');
  }
}

function* validateIscsiName(name: string, path: FieldPath): FieldErrors {
  if (!/^(iqn|eui|naa)/.test(name)) {
    yield invalidValue(path, name, 'must be valid format starting with iqn, eui, or naa');
  } else if (!ISCSI_NAMES.some((form) => form.test(name))) {
    yield invalidValue(path, name, 'must be valid format');
  }
}

function* validateIscsi(source: ISCSIVolumeSource, path: FieldPath): FieldErrors {
  if (source.iqn !== '') yield* validateIscsiName(source.iqn, path.child('iqn'));
  yield* validateRange(source.lun, path.child('lun'), 0, 255);
  const chap = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (chap && source.secretRef === undefined) yield requiredValue(path.child('secretRef'));
  yield* validateIfSet(source.initiatorName, path.child('initiatorName'), validateIscsiName);
}

function* validateFibreChannel(source: FCVolumeSource, path: FieldPath): FieldErrors {
  const {targetWWNs = [], wwids = [], lun} = source;
  const at = path.child('targetWWNs');
  if (targetWWNs.length === 0 && wwids.length === 0) {
    yield requiredValue(at, 'must specify either targetWWNs or wwids, but not both');
  }
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0) {
    yield invalidValue(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously');
  }
  if (lun === undefined) yield requiredValue(path.child('lun'), 'lun is required if targetWWNs is specified');
  yield* validateRange(lun, path.child('lun'), 0, 255);
}

/** Validates the options of a FlexVolume, which must not be those that Kubernetes adds (validateFlexVolumeSource). */
function* validateFlexOptions({options = {}}: FlexVolumeSource, path: FieldPath): FieldErrors {
  for (const name of Object.keys(options)) {
    const [namespace = ''] = name.split('/');
    if (/(?:^|\.)(?:kubernetes|k8s)\.io$/i.test(namespace))
      yield invalidValue(
        path.child('options').key(name),
        name,
        'kubernetes.io and k8s.io namespaces are reserved',
      );
  }
}

function* validateFlocker(
  {datasetName = '', datasetUUID = ''}: FlockerVolumeSource,
  path: FieldPath,
): FieldErrors {
  if (datasetName === '' && datasetUUID === '') {
    yield requiredValue(path, 'one of datasetName and datasetUUID is required');
  } else if (datasetName !== '' && datasetUUID !== '') {
    yield invalidValue(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously');
  }
  if (datasetName.includes('/'))
    yield invalidValue(path.child('datasetName'), datasetName, "must not contain '/'");
}

function* validateSecretRef(
  {secretRef}: {readonly secretRef?: LocalObjectReference},
  path: FieldPath,
): FieldErrors {
  if (secretRef !== undefined) yield* validateRequired(secretRef.name, path.child('secretRef', 'name'));
}

/** Validates a CSI volume source (validateCSIVolumeSource, ValidateCSIDriverName). */
function* validateCsi({driver, nodePublishSecretRef}: CSIVolumeSource, path: FieldPath): FieldErrors {
  const at = path.child('driver');
  if (driver === '') yield requiredValue(at);
  if (driver.length > LONGEST_DRIVER_NAME) yield tooLong(at, LONGEST_DRIVER_NAME);
  for (const problem of checkDnsSubdomain(driver.toLowerCase())) yield invalidValue(at, driver, problem);
  if (nodePublishSecretRef === undefined) return;
  const name = path.child('nodePublishSecretRef', 'name');
  yield* validateRequired(nodePublishSecretRef.name, name);
  if (nodePublishSecretRef.name) yield* validateName(nodePublishSecretRef.name, name, checkDnsSubdomain);
}

/** Validates the metadata of a template, which may have labels and annotations only (ValidateTemplateObjectMeta). */
function* validateTemplateMetadata(metadata: ObjectMeta, path: FieldPath): FieldErrors {
  yield* validateAnnotations(metadata.annotations ?? {}, path.child('annotations'));
  yield* validateLabels(metadata.labels, path.child('labels'));
  for (const name of Object.keys(metadata)) {
    if (name !== 'annotations' && name !== 'labels') yield forbidden(path.child(name), 'cannot be set');
  }
}

/** Requires that ReadWriteOncePod is the only access mode if it is one. */
export function* validateAccessModes(
  modes: readonly PersistentVolumeAccessMode[],
  path: FieldPath,
): FieldErrors {
  const others = modes.filter((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode));
  if (modes.includes('ReadWriteOncePod') && others.length > 0)
    yield forbidden(path, 'may not use ReadWriteOncePod with other access modes');
}

/** Validates what a claim is filled from (validateDataSource, validateDataSourceRef). */
function* validateDataSource(
  {apiGroup = '', kind, name, namespace = ''}: Partial<TypedObjectReference>,
  path: FieldPath,
): FieldErrors {
  yield* validateRequired(name, path.child('name'));
  yield* validateRequired(kind, path.child('kind'));
  if (apiGroup !== '') yield* validateName(apiGroup, path.child('apiGroup'), checkDnsSubdomain);
  else if (kind !== 'PersistentVolumeClaim')
    yield invalidValue(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  if (namespace !== '') yield* validateName(namespace, path.child('namespace'), checkDnsLabel);
}

/** Reports whether a claim can be filled from a source; the API server drops others. */
function isFillable({apiGroup, kind}: Partial<TypedObjectReference>): boolean {
  if ((apiGroup ?? '') === '') return kind === 'PersistentVolumeClaim';
  return kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io';
}

function* validateDataSources(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldErrors {
  const {dataSourceRef} = spec;
  const dataSource = spec.dataSource && isFillable(spec.dataSource) ? spec.dataSource : undefined;
  yield* validateIfSet(dataSource, path.child('dataSource'), validateDataSource);
  yield* validateIfSet(dataSourceRef, path.child('dataSourceRef'), validateDataSource);
  if (dataSource === undefined || dataSourceRef === undefined) return;
  const at = path.child('dataSource');
  const {namespace = '', ...reference} = dataSourceRef;
  if (namespace !== '')
    yield invalidValue(at, dataSource, 'may not be specified when dataSourceRef.namespace is specified');
  else if (canonicalJson(dataSource) !== canonicalJson(reference))
    yield invalidValue(at, dataSource, 'must match dataSourceRef');
}

/** Validates the spec of a claim (the relevant part of ValidatePersistentVolumeClaimSpec). */
export function* validateClaimSpec(spec: PersistentVolumeClaimSpec, path: FieldPath): FieldErrors {
  const {accessModes = [], selector, resources} = spec;
  if (accessModes.length === 0)
    yield requiredValue(path.child('accessModes'), 'at least 1 access mode is required');
  yield* validateAccessModes(accessModes, path.child('accessModes'));
  yield* validateLabelSelector(selector, path.child('selector'));
  const at = path.child('resources', 'requests').key('storage');
  const storage = resources?.requests?.['storage'];
  if (storage === undefined) yield requiredValue(at);
  else if (compareQuantities(storage, '0') <= 0) yield invalidValue(at, storage, 'must be greater than zero');
  for (const name of ['storageClassName', 'volumeAttributesClassName'] as const) {
    const className = spec[name] ?? '';
    if (className !== '') yield* validateName(className, path.child(name), checkDnsSubdomain);
  }
  yield* validateDataSources(spec, path);
}

function* validateClaimTemplate(template: PersistentVolumeClaimTemplate, path: FieldPath): FieldErrors {
  yield* validateIfSet(template.metadata, path.child('metadata'), validateTemplateMetadata);
  yield* validateClaimSpec(template.spec, path.child('spec'));
}

function* validateEphemeral({volumeClaimTemplate}: EphemeralVolumeSource, path: FieldPath): FieldErrors {
  const at = path.child('volumeClaimTemplate');
  if (volumeClaimTemplate === undefined) yield requiredValue(at);
  else yield* validateClaimTemplate(volumeClaimTemplate, at);
}

/** Validators of volumes that something outside the node provides. */
export const ATTACHED_VOLUME_VALIDATORS = {
  awsElasticBlockStore: both(needs<AWSElasticBlockStoreVolumeSource>('volumeID'), validatePartition),
  azureDisk: needs('diskName', 'diskURI'),
  azureFile: needs('secretName', 'shareName'),
  cephfs: needs('monitors'),
  cinder: both(needs<CinderVolumeSource>('volumeID'), validateSecretRef),
  csi: validateCsi,
  ephemeral: validateEphemeral,
  fc: validateFibreChannel,
  flexVolume: both(needs<FlexVolumeSource>('driver'), validateFlexOptions),
  flocker: validateFlocker,
  gcePersistentDisk: both(needs<GCEPersistentDiskVolumeSource>('pdName'), validatePartition),
  gitRepo: both(needs('repository'), validateGitDirectory),
  glusterfs: needs('endpoints', 'path'),
  iscsi: both(needs('targetPortal', 'iqn'), validateIscsi),
  nfs: both(needs('server', 'path'), validateNfsPath),
  persistentVolumeClaim: needs('claimName'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  quobyte: needs('registry', 'volume'),
  rbd: needs('monitors', 'image'),
  scaleIO: needs('gateway', 'system', 'volumeName'),
  storageos: both(needs<StorageOSVolumeSource>('volumeName'), validateSecretRef),
  vsphereVolume: needs('volumePath'),
} satisfies VolumeSourceValidators<
  Exclude<
    keyof VolumeSource,
    'configMap' | 'downwardAPI' | 'emptyDir' | 'hostPath' | 'image' | 'projected' | 'secret'
  >
>;
