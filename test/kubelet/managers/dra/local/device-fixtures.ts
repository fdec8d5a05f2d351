import type {
  DeviceClass,
  ManifestResourceClaim,
  ResourceClaimSpec,
  ResourceClaimTemplate,
  ResourceSlice,
} from '../../../../../src/api/types/v1-device-resources.js';
import type {PodSpec, Pod} from '../../../../../src/api/types/v1-pod.js';
import {
  createDeviceObjects,
  type DeviceObjects,
} from '../../../../../src/kubelet/contract/resources/device-objects.js';

/** Driver of the devices. */
export const DRIVER = 'dra.example.com';

const API = {apiVersion: 'resource.k8s.io/v1'} as const;

/** Returns a class of all devices. */
export const aClass = (name: string, spec: DeviceClass['spec'] = {}): DeviceClass => ({
  ...API,
  kind: 'DeviceClass',
  metadata: {name},
  spec,
});

/** Returns a slice with devices that every node has. */
export const aSlice = (...names: readonly string[]): ResourceSlice => ({
  ...API,
  kind: 'ResourceSlice',
  metadata: {name: 'slice'},
  spec: {
    ...{driver: DRIVER, pool: {name: 'pool', resourceSliceCount: 1}, allNodes: true},
    devices: names.map((name) => ({name})),
  },
});

/** Returns a spec that asks for devices of the class `gpu`. */
export const aSpec = (count = 1): ResourceClaimSpec => ({
  devices: {requests: [{name: 'req', exactly: {deviceClassName: 'gpu', count}}]},
});

export const aClaim = (name: string, spec = aSpec()): ManifestResourceClaim => ({
  ...API,
  kind: 'ResourceClaim',
  metadata: {name, namespace: 'default'},
  spec,
});

export const aTemplate = (name: string, spec = aSpec()): ResourceClaimTemplate => ({
  ...API,
  kind: 'ResourceClaimTemplate',
  metadata: {name, namespace: 'default'},
  spec: {metadata: {labels: {from: 'template'}}, spec},
});

/** Returns the class `gpu`, devices, and other objects. */
export function devices(
  names: readonly string[],
  ...others: readonly (ManifestResourceClaim | ResourceClaimTemplate | DeviceClass)[]
): DeviceObjects {
  const classes = others.some((one) => one.kind === 'DeviceClass') ? [] : [aClass('gpu')];
  return createDeviceObjects([...classes, aSlice(...names), ...others]);
}

/** Returns a pod that uses a claim or, with a name that starts with `template:`, one of its own. */
export function aPodWithClaims(name: string, ...claims: readonly string[]): Pod {
  const entries = claims.map((claim, index) =>
    claim.startsWith('template:')
      ? {name: `entry${index}`, resourceClaimTemplateName: claim.slice('template:'.length)}
      : {name: `entry${index}`, resourceClaimName: claim},
  );
  const used = entries.map((entry) => ({name: entry.name}));
  const spec: PodSpec = {
    containers: [{name: 'main', image: 'i', resources: {claims: used}}],
    resourceClaims: entries,
  };
  return {
    ...{apiVersion: 'v1', kind: 'Pod', spec},
    metadata: {name, namespace: 'default', uid: `uid-${name}`},
  };
}
