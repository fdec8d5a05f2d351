import {join} from 'node:path';
import {CSI_DRIVER, FakeCsiDriver} from '../../fakes/plugins/fake-csi-driver.js';

/** Starts a driver whose volumes are directories, for the kubelet of a root directory. */
export async function startBenchDriver(rootDir: string): Promise<FakeCsiDriver> {
  return await FakeCsiDriver.start({
    path: join(rootDir, 'plugins/disk/csi.sock'),
    registration: join(rootDir, 'plugins_registry/disk-reg.sock'),
    capabilities: ['STAGE_UNSTAGE_VOLUME', 'GET_VOLUME_STATS'],
  });
}

/** Documents of the driver, and of a PersistentVolume with its claim for each name. */
export function storageOf(names: readonly string[]): object {
  const accessModes = ['ReadWriteOnce'];
  const capacity = {storage: '1Mi'};
  const driver = {
    ...{apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: {name: CSI_DRIVER}},
    spec: {attachRequired: false, volumeLifecycleModes: ['Persistent', 'Ephemeral']},
  };
  const volumes = names.flatMap((name) => [
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolume', metadata: {name}},
      spec: {accessModes, capacity, csi: {driver: CSI_DRIVER, volumeHandle: name}},
    },
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name, namespace: 'default'}},
      spec: {accessModes, volumeName: name, storageClassName: '', resources: {requests: capacity}},
    },
  ]);
  return {apiVersion: 'v1', kind: 'List', items: [driver, ...volumes]};
}

/** Returns the fields of a pod's spec with the volumes of these claims. */
export function withClaims(names: readonly string[], container: object): object {
  return {
    containers: [{...container, volumeMounts: names.map((name) => ({name, mountPath: `/volumes/${name}`}))}],
    volumes: names.map((name) => ({name, persistentVolumeClaim: {claimName: name}})),
  };
}
