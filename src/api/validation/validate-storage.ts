import type {FieldErrors} from '../field-error.js';
import {invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import type {CSIDriver, StorageClass} from '../types/v1-storage.js';
import {validateRequired} from './field-validators.js';
import {checkDnsSubdomain, validateName} from './validate-names.js';

const root = new FieldPath();

const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];
/** Most characters of the name of a CSI driver. */
const MOST_NAME_LENGTH = 63;

/** Validates a StorageClass (the relevant part of ValidateStorageClass). */
export function* validateStorageClass(object: StorageClass): FieldErrors {
  const {provisioner, reclaimPolicy = 'Delete', volumeBindingMode: mode = 'Immediate', parameters} = object;
  yield* validateRequired(provisioner, root.child('provisioner'));
  if (!RECLAIM_POLICIES.includes(reclaimPolicy))
    yield unsupportedValue(root.child('reclaimPolicy'), reclaimPolicy, RECLAIM_POLICIES);
  if (!BINDING_MODES.includes(mode))
    yield unsupportedValue(root.child('volumeBindingMode'), mode, BINDING_MODES);
  for (const key of Object.keys(parameters ?? {}))
    if (key === '') yield requiredValue(root.child('parameters').key(key), 'field can not be empty');
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
