import type {DeviceClass} from '../../../../api/types/v1-device-resources.js';
import {DEVICE_CLASS_PREFIX} from './pod-claims.js';

/** Returns the class of an extended resource: the first by name that names it, or the one that the resource names. */
export function findExtendedClass(
  classes: readonly DeviceClass[],
  resource: string,
): DeviceClass | undefined {
  const explicit = classes
    .filter(({spec}) => spec.extendedResourceName === resource)
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  return (
    explicit[0] ?? classes.find(({metadata}) => resource === `${DEVICE_CLASS_PREFIX}${metadata.name ?? ''}`)
  );
}
