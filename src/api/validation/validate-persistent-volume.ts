import type {FieldErrors} from '../field-error.js';
import {forbidden, requiredValue} from '../field-error.js';
import {FieldPath} from '../field-path.js';
import {manifestVolume} from '../schema/schema-persistent-volumes.js';
import {
  UNSUPPORTED_VOLUME_SOURCES,
  type ManifestVolume,
  type PersistentVolumeSpec,
} from '../types/v1-persistent-volumes.js';
import {validateIfSet, validateNoBacksteps, validateRequired} from './field-validators.js';
import {validateEnumerations} from './validate-enumerations.js';

const spec = new FieldPath(['spec']);

const SOURCES = ['hostPath', 'local', 'nfs', 'csi', ...UNSUPPORTED_VOLUME_SOURCES] as const;

/** Returns the names of the sources of a PersistentVolume. */
export function volumeSourcesOf(volume: PersistentVolumeSpec): readonly string[] {
  return SOURCES.filter((name) => volume[name] !== undefined);
}

function* validatePath({path}: {readonly path: string}, at: FieldPath): FieldErrors {
  yield* validateRequired(path, at.child('path'));
  yield* validateNoBacksteps(path, at.child('path'));
}

/** Validates a PersistentVolume (the relevant part of ValidatePersistentVolume). */
export function* validatePersistentVolume(volume: ManifestVolume): FieldErrors {
  const {capacity, accessModes = [], hostPath, local, nodeAffinity} = volume.spec;
  yield* validateEnumerations(manifestVolume, {spec: volume.spec}, new FieldPath());
  if (accessModes.length === 0) yield requiredValue(spec.child('accessModes'));
  if (capacity?.['storage'] === undefined) yield requiredValue(spec.child('capacity'));
  const [first, ...others] = volumeSourcesOf(volume.spec);
  if (first === undefined) yield requiredValue(spec, 'must specify a volume type');
  for (const name of others) yield forbidden(spec.child(name), 'may not specify more than 1 volume type');
  yield* validateIfSet(hostPath, spec.child('hostPath'), validatePath);
  yield* validateIfSet(local, spec.child('local'), validatePath);
  if (local !== undefined && nodeAffinity?.required === undefined)
    yield requiredValue(spec.child('nodeAffinity'), 'Local volume requires node affinity');
}
