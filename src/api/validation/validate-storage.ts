import {posix} from 'node:path';
import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {MIGRATED_KINDS} from '../csi-migration/in-tree-volumes.js';
import {compareQuantities} from '../quantity.js';
import type {CSIDriver, StorageClass, VolumeAttributesClass} from '../types/v1-storage.js';
import {manifestVolume} from '../types/v1-persistent-volumes.js';
import {
  REMOVED_VOLUME_SOURCES,
  type CSIPersistentVolumeSource,
  type ManifestVolume,
  type PersistentVolumeSpec,
} from '../types/v1-persistent-volumes.js';
import type {ResourceList} from '../types/v1-meta.js';
import {ATTACHED_VOLUME_VALIDATORS, validateAccessModes} from './validate-attached-volumes.js';
import {validateNodeSelector} from './validate-scheduling.js';
import {checkDnsSubdomain, validateName} from './validate-names.js';
import {validateIfSet, validateNoBacksteps, validateRequired} from './field-validators.js';
import {validateEnumerations} from './validate-enumerations.js';

const spec = new FieldPath(['spec']);

const SOURCES = [
  ...(['hostPath', 'local', 'nfs', 'iscsi', 'fc', 'csi', 'flexVolume'] as const),
  ...MIGRATED_KINDS,
  ...REMOVED_VOLUME_SOURCES,
] as const;

/** Returns the names of the sources of a PersistentVolume. */
export function volumeSourcesOf(volume: PersistentVolumeSpec): readonly string[] {
  return SOURCES.filter((name) => volume[name] !== undefined);
}

function* validatePath({path}: {readonly path: string}, at: FieldPath): FieldErrors {
  yield* validateRequired(path, at.child('path'));
  yield* validateNoBacksteps(path, at.child('path'));
}

/** Requires an amount of storage, and no other resource. */
function* validateCapacity(capacity: ResourceList = {}, path: FieldPath): FieldErrors {
  const names = Object.keys(capacity);
  if (names.length === 0) yield requiredValue(path);
  else if (names.length > 1 || names[0] !== 'storage') yield unsupportedValue(path, capacity, ['storage']);
  for (const [name, amount] of Object.entries(capacity))
    if (compareQuantities(amount, '0') <= 0)
      yield invalidValue(path.key(name), amount, 'must be greater than zero');
}

function* validateCsi({driver, volumeHandle}: CSIPersistentVolumeSource, path: FieldPath): FieldErrors {
  yield* validateRequired(driver, path.child('driver'));
  if (driver !== '') yield* validateName(driver.toLowerCase(), path.child('driver'), checkDnsSubdomain);
  yield* validateRequired(volumeHandle, path.child('volumeHandle'));
}

const RECLAIM_POLICIES = ['Delete', 'Recycle', 'Retain'];

/** Validates what happens to a volume after its use, and its classes. */
function* validateClasses(volume: PersistentVolumeSpec): FieldErrors {
  const {persistentVolumeReclaimPolicy: policy = '', storageClassName = '', hostPath, csi} = volume;
  const at = spec.child('persistentVolumeReclaimPolicy');
  if (policy !== '' && !RECLAIM_POLICIES.includes(policy))
    yield unsupportedValue(at, policy, RECLAIM_POLICIES);
  if (policy === 'Recycle' && hostPath !== undefined && posix.resolve('/', hostPath.path) === '/')
    yield forbidden(at, "may not be 'recycle' for a hostPath mount of '/'");
  if (storageClassName !== '')
    yield* validateName(storageClassName, spec.child('storageClassName'), checkDnsSubdomain);
  const {volumeAttributesClassName: attributes} = volume;
  if (attributes === undefined) return;
  const name = spec.child('volumeAttributesClassName');
  if (attributes === '') yield requiredValue(name, 'an empty string is disallowed');
  else yield* validateName(attributes, name, checkDnsSubdomain);
  if (csi === undefined)
    yield requiredValue(spec.child('csi'), 'has to be specified when using volumeAttributesClassName');
}

/** Validates a PersistentVolume (the relevant part of ValidatePersistentVolume). */
export function* validatePersistentVolume(volume: ManifestVolume): FieldErrors {
  const {
    capacity,
    accessModes = [],
    hostPath,
    local,
    nfs,
    iscsi,
    fc,
    csi,
    flexVolume,
    nodeAffinity,
  } = volume.spec;
  yield* validateEnumerations(manifestVolume, {spec: volume.spec}, new FieldPath());
  if (accessModes.length === 0) yield requiredValue(spec.child('accessModes'));
  yield* validateAccessModes(accessModes, spec.child('accessModes'));
  yield* validateCapacity(capacity, spec.child('capacity'));
  const [first, ...others] = volumeSourcesOf(volume.spec);
  if (first === undefined) yield requiredValue(spec, 'must specify a volume type');
  for (const name of others) yield forbidden(spec.child(name), 'may not specify more than 1 volume type');
  yield* validateIfSet(hostPath, spec.child('hostPath'), validatePath);
  yield* validateIfSet(local, spec.child('local'), validatePath);
  yield* validateIfSet(nfs, spec.child('nfs'), ATTACHED_VOLUME_VALIDATORS.nfs);
  yield* validateIfSet(iscsi, spec.child('iscsi'), ATTACHED_VOLUME_VALIDATORS.iscsi);
  yield* validateIfSet(flexVolume, spec.child('flexVolume'), ATTACHED_VOLUME_VALIDATORS.flexVolume);
  yield* validateIfSet(fc, spec.child('fc'), ATTACHED_VOLUME_VALIDATORS.fc);
  yield* validateIfSet(csi, spec.child('csi'), validateCsi);
  yield* validateIfSet(nodeAffinity?.required, spec.child('nodeAffinity', 'required'), validateNodeSelector);
  if (local !== undefined && nodeAffinity === undefined)
    yield requiredValue(spec.child('nodeAffinity'), 'Local volume requires node affinity');
  if (nodeAffinity !== undefined && nodeAffinity.required === undefined)
    yield requiredValue(spec.child('nodeAffinity', 'required'), 'must specify required node constraints');
  yield* validateClasses(volume.spec);
}

const root = new FieldPath();

const CLASS_RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
/** Most characters of the name of a CSI driver. */
const MOST_NAME_LENGTH = 63;

/** Validates a StorageClass (the relevant part of ValidateStorageClass). */
export function* validateStorageClass(object: StorageClass): FieldErrors {
  const {provisioner, reclaimPolicy = 'Delete', volumeBindingMode: mode = 'Immediate', parameters} = object;
  yield* validateRequired(provisioner, root.child('provisioner'));
  if (!CLASS_RECLAIM_POLICIES.includes(reclaimPolicy))
    yield unsupportedValue(root.child('reclaimPolicy'), reclaimPolicy, CLASS_RECLAIM_POLICIES);
  if (!BINDING_MODES.includes(mode))
    yield unsupportedValue(root.child('volumeBindingMode'), mode, BINDING_MODES);
  for (const key of Object.keys(parameters ?? {}))
    if (key === '') yield requiredValue(root.child('parameters').key(key), 'field can not be empty');
}

/** Validates a VolumeAttributesClass (the relevant part of ValidateVolumeAttributesClass). */
export function* validateAttributesClass({driverName, parameters = {}}: VolumeAttributesClass): FieldErrors {
  yield* validateRequired(driverName, root.child('driverName'));
  const at = root.child('parameters');
  if (Object.hasOwn(parameters, '')) yield invalidValue(at, '', 'field can not be empty.');
  if (Object.keys(parameters).length === 0)
    yield requiredValue(at, 'must contain at least one key/value pair');
}

const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType'];
const LIFECYCLE_MODES = ['Ephemeral', 'Persistent'];

/** Validates a CSIDriver (the relevant part of ValidateCSIDriver). */
export function* validateCsiDriver({metadata, spec}: CSIDriver): FieldErrors {
  const {name = ''} = metadata;
  const at = root.child('metadata', 'name');
  if (name.length > MOST_NAME_LENGTH)
    yield invalidValue(at, name, `must be no more than ${MOST_NAME_LENGTH} characters`);
  yield* validateName(name.toLowerCase(), at, checkDnsSubdomain);
  const {fsGroupPolicy = 'ReadWriteOnceWithFSType', volumeLifecycleModes: modes = []} = spec;
  if (!FS_GROUP_POLICIES.includes(fsGroupPolicy))
    yield unsupportedValue(root.child('spec', 'fsGroupPolicy'), fsGroupPolicy, FS_GROUP_POLICIES);
  for (const [index, mode] of modes.entries())
    if (!LIFECYCLE_MODES.includes(mode))
      yield unsupportedValue(root.child('spec', 'volumeLifecycleModes').index(index), mode, LIFECYCLE_MODES);
}
