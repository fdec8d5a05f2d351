import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../src/api/types/v1-persistent-volumes.js';
import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import type {ClaimToProvision} from '../../../../src/kubelet/contract/volumes/claimed-volume.js';
import {unmountBelow} from '../../../../src/kubelet/managers/volumes/mounter.js';
import type {VolumeFacts} from '../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainer} from '../../../fakes/a-pod.js';
import {aPodWith} from './volume-fixtures.js';

/** Creates a node whose volumes are unmounted after the test. */
export async function aNode(): Promise<VolumeFacts> {
  const rootDir = join(await temporaryDirectory(), 'root');
  onTestFinished(async () => {
    await unmountBelow(rootDir);
  });
  const bytes = {memoryBytes: 1n << 30n, ephemeralStorageBytes: 1n << 30n, hugePageBytes: new Map()};
  return {rootDir, cpuMilli: 2000n, ...bytes};
}

/** Returns objects in which each claim has the PersistentVolume `pv`. */
export function claims(spec: PersistentVolumeSpec, readOnly = false): ApiObjects {
  const volume = {metadata: {name: 'pv'}, spec};
  return {...NO_OBJECTS, claimedVolume: () => ({volume, readOnly, isOnNode: true})};
}

/** Creates a pod that mounts the volume of a claim. */
export function aClaimPod(spec: Partial<PodSpec> = {}, uid = 'u1'): Pod {
  const pod = aPodWith([{name: 'v', persistentVolumeClaim: {claimName: 'c'}}], spec);
  return {...pod, metadata: {...pod.metadata, uid}};
}

/** Creates a pod whose container has the volume of a claim as a device. */
export function aDevicePod(uid = 'u1'): Pod {
  return aClaimPod({containers: [aContainer({volumeDevices: [{name: 'v', devicePath: '/dev/xb'}]})]}, uid);
}

/** Creates a claim whose class has a driver create its volume. */
export function aClaimToProvision(
  provisioner: string,
  parameters: Readonly<Record<string, string>> = {},
): ClaimToProvision {
  return {
    namespace: 'default',
    name: 'data',
    spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Mi'}}},
    storageClass: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {name: 'dirs'},
      provisioner,
      parameters,
    },
    readOnly: false,
  };
}
