import {aContainerSpec, aManifest} from '../../commands/command-testbed.js';
import {CSI_DRIVER} from '../../fakes/plugins/fake-csi-driver.js';

/** Handles of the PersistentVolumes: one with files, one that is a device. */
export const FILES = 'files';
export const DEVICE = 'device';

/** Name of the claim for which the driver makes a volume, and of its class. */
export const MADE = 'made';

/** Size of the volume of the claim in bytes, when it is made and after its expansion. */
export const SMALL = 1024 ** 2;
export const LARGE = 2 * SMALL;

const MADE_SPEC = {
  ...{accessModes: ['ReadWriteMany'], storageClassName: MADE},
  resources: {requests: {storage: String(SMALL)}},
};

function aVolume(name: string, volumeMode: 'Filesystem' | 'Block'): readonly object[] {
  const accessModes = ['ReadWriteMany'];
  const capacity = {storage: '1Mi'};
  return [
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolume', metadata: {name}},
      spec: {accessModes, capacity, volumeMode, csi: {driver: CSI_DRIVER, volumeHandle: name}},
    },
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name, namespace: 'default'}},
      spec: {
        ...{accessModes, volumeMode, volumeName: name, storageClassName: ''},
        resources: {requests: capacity},
      },
    },
  ];
}

/** Manifest of the driver and of its volumes. */
export const STORAGE = JSON.stringify({
  apiVersion: 'v1',
  kind: 'List',
  items: [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', metadata: {name: CSI_DRIVER}},
      spec: {
        ...{attachRequired: false, fsGroupPolicy: 'File', podInfoOnMount: true},
        volumeLifecycleModes: ['Persistent', 'Ephemeral'],
      },
    },
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: MADE}},
      ...{provisioner: CSI_DRIVER, allowVolumeExpansion: true},
    },
    ...aVolume(FILES, 'Filesystem'),
    ...aVolume(DEVICE, 'Block'),
  ],
});

/** Returns the manifest of the claim for a volume of a size, without which the volume is deleted. */
export function claimOf(bytes: number): string {
  return JSON.stringify({
    ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: MADE, namespace: 'default'}},
    spec: {...MADE_SPEC, resources: {requests: {storage: String(bytes)}}},
  });
}

/** Numbers of volumes of the driver, and of devices, that a container of each pod has. */
export const MOUNTS_OF_POD = 5;
export const DEVICES_OF_POD = 1;

/** Returns the manifest of a pod with the volumes, of one of which it has a directory, and with an inline and an ephemeral one. */
export function podWithVolumes(name: string): string {
  return aManifest({
    name,
    terminationGracePeriodSeconds: 1,
    securityContext: {fsGroup: 2000},
    volumes: [
      {name: 'files', persistentVolumeClaim: {claimName: FILES}},
      {name: 'device', persistentVolumeClaim: {claimName: DEVICE}},
      {name: 'inline', csi: {driver: CSI_DRIVER}},
      {name: 'made', persistentVolumeClaim: {claimName: MADE}},
      {name: 'own', ephemeral: {volumeClaimTemplate: {spec: MADE_SPEC}}},
    ],
    containers: [
      aContainerSpec('main', {
        volumeMounts: [
          {name: 'files', mountPath: '/files'},
          {name: 'files', mountPath: '/part', subPath: 'part'},
          {name: 'inline', mountPath: '/inline'},
          {name: 'made', mountPath: '/made'},
          {name: 'own', mountPath: '/own'},
        ],
        volumeDevices: [{name: 'device', devicePath: '/dev/xb'}],
      }),
    ],
  });
}
