import type {
  DeviceClass,
  ManifestResourceClaim,
  ResourceClaimTemplate,
  ResourceSlice,
} from '../../../api/types/v1-device-resources.js';
import type {ApiObject} from '../../../api/types/v1-objects.js';

/** Objects of resource.k8s.io in manifests. */
export interface DeviceObjects {
  claim(namespace: string, name: string): ManifestResourceClaim | undefined;
  template(namespace: string, name: string): ResourceClaimTemplate | undefined;
  readonly classes: readonly DeviceClass[];
  readonly slices: readonly ResourceSlice[];
}

/** Returns the objects of resource.k8s.io among others, which have their namespaces. */
export function createDeviceObjects(objects: readonly ApiObject[]): DeviceObjects {
  const claims = objects.flatMap((object) => (object.kind === 'ResourceClaim' ? [object] : []));
  const templates = objects.flatMap((object) => (object.kind === 'ResourceClaimTemplate' ? [object] : []));
  return {
    claim: (namespace, name) => claims.find(isNamed(namespace, name)),
    template: (namespace, name) => templates.find(isNamed(namespace, name)),
    classes: objects.flatMap((object) => (object.kind === 'DeviceClass' ? [object] : [])),
    slices: objects.flatMap((object) => (object.kind === 'ResourceSlice' ? [object] : [])),
  };
}

function isNamed(namespace: string, name: string) {
  return ({metadata}: Pick<ApiObject, 'metadata'>): boolean =>
    (metadata.namespace ?? 'default') === namespace && metadata.name === name;
}

/** No objects. */
export const NO_DEVICE_OBJECTS: DeviceObjects = createDeviceObjects([]);
