import type {FieldErrors} from '../field-error.js';
import {forbidden, invalidValue, notFound, requiredValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {validateRequired, validateDescendingPath} from './field-validators.js';
import type {Container, VolumeDevice, VolumeMount} from '../types/v1-pod.js';
import type {Volume} from '../types/v1-volumes.js';

type Volumes = ReadonlyMap<string, Volume>;

function* validatePropagation(mount: VolumeMount, container: Container, path: FieldPath): FieldErrors {
  const {mountPropagation = 'None', recursiveReadOnly = 'Disabled', readOnly} = mount;
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true) {
    const rule = 'Bidirectional mount propagation is available only to privileged containers';
    yield forbidden(path.child('mountPropagation'), rule);
  }
  if (recursiveReadOnly === 'Disabled') return;
  const at = path.child('recursiveReadOnly');
  if (readOnly !== true) yield forbidden(at, 'may only be specified when readOnly is true');
  if (mountPropagation !== 'None') {
    yield forbidden(at, 'may only be specified when mountPropagation is None or not specified');
  }
}

function* validateSubPaths({subPath = '', subPathExpr = ''}: VolumeMount, path: FieldPath): FieldErrors {
  yield* validateDescendingPath(subPath, path.child('subPath'));
  if (subPath !== '' && subPathExpr !== '') {
    yield invalidValue(
      path.child('subPathExpr'),
      subPathExpr,
      'subPathExpr and subPath are mutually exclusive',
    );
  }
  yield* validateDescendingPath(subPathExpr, path.child('subPathExpr'));
}

/** Validates volume mounts (ValidateVolumeMounts). */
export function* validateMounts(container: Container, path: FieldPath, volumes: Volumes): FieldErrors {
  const devices = container.volumeDevices ?? [];
  const places = new Set<string>();
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = path.index(index);
    const {name, mountPath} = mount;
    if (name === '') yield requiredValue(at.child('name'));
    else if (!volumes.has(name)) yield notFound(at.child('name'), name);
    yield* validateRequired(mountPath, at.child('mountPath'));
    if (places.has(mountPath)) yield invalidValue(at.child('mountPath'), mountPath, 'must be unique');
    places.add(mountPath);
    if (devices.some((device) => device.name === name)) {
      yield invalidValue(at.child('name'), name, 'must not already exist in volumeDevices');
    }
    if (devices.some((device) => device.devicePath === mountPath)) {
      const rule = 'must not already exist as a path in volumeDevices';
      yield invalidValue(at.child('mountPath'), mountPath, rule);
    }
    yield* validateSubPaths(mount, at);
    yield* validatePropagation(mount, container, at);
  }
}

function* validateDeviceName({name}: VolumeDevice, path: FieldPath, volumes: Volumes): FieldErrors {
  const volume = volumes.get(name);
  if (name === '') yield requiredValue(path);
  else if (volume === undefined) yield notFound(path, name);
  else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
    const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
    yield invalidValue(path, name, rule);
  }
}

/** Validates volume devices (ValidateVolumeDevices). */
export function* validateDevices(
  devices: readonly VolumeDevice[],
  path: FieldPath,
  volumes: Volumes,
): FieldErrors {
  const names = new Set<string>();
  const places = new Set<string>();
  for (const [index, device] of devices.entries()) {
    const {name, devicePath} = device;
    const nameAt = path.index(index).child('name');
    const placeAt = path.index(index).child('devicePath');
    yield* validateDeviceName(device, nameAt, volumes);
    if (names.has(name)) yield invalidValue(nameAt, name, 'must be unique');
    yield* validateRequired(devicePath, placeAt);
    if (places.has(devicePath)) yield invalidValue(placeAt, devicePath, 'must be unique');
    if (devicePath.split('/').includes('..')) {
      yield invalidValue(placeAt, devicePath, "can not contain backsteps ('..')");
    }
    names.add(name);
    places.add(devicePath);
  }
}
