import {aContainerSpec, aManifest} from '../../commands/command-testbed.js';
import {CSI_DRIVER} from '../../fakes/plugins/fake-csi-driver.js';

/** Handles of the PersistentVolumes: one with files, one that is a device. */
export const FILES = 'files';
export const DEVICE = 'device';

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
    ...aVolume(FILES, 'Filesystem'),
    ...aVolume(DEVICE, 'Block'),
  ],
});

/** Numbers of volumes of the driver, and of devices, that a container of each pod has. */
export const MOUNTS_OF_POD = 3;
export const DEVICES_OF_POD = 1;

/** Returns the manifest of a pod with the volumes, of one of which it has a directory, and with an inline one. */
export function podWithVolumes(name: string): string {
  return aManifest({
    name,
    terminationGracePeriodSeconds: 1,
    securityContext: {fsGroup: 2000},
    volumes: [
      {name: 'files', persistentVolumeClaim: {claimName: FILES}},
      {name: 'device', persistentVolumeClaim: {claimName: DEVICE}},
      {name: 'inline', csi: {driver: CSI_DRIVER}},
    ],
    containers: [
      aContainerSpec('main', {
        volumeMounts: [
          {name: 'files', mountPath: '/files'},
          {name: 'files', mountPath: '/part', subPath: 'part'},
          {name: 'inline', mountPath: '/inline'},
        ],
        volumeDevices: [{name: 'device', devicePath: '/dev/xb'}],
      }),
    ],
  });
}
