import {expect, test} from 'vitest';
import type {Volume} from '../../../src/api/types/v1-volumes.js';
import {volumeSection} from '../../../src/features/describe/describe-volumes.js';

test.each<[string, Volume, readonly string[]]>([
  [
    'a claim',
    {name: 'v', persistentVolumeClaim: {claimName: 'c', readOnly: true}},
    [
      'Type:\tPersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)',
      'ClaimName:\tc',
      'ReadOnly:\ttrue',
    ],
  ],
  [
    'a disk that a CSI driver mounts',
    {name: 'v', awsElasticBlockStore: {volumeID: 'vol-1', fsType: 'ext4'}},
    [
      'Type:\tAWSElasticBlockStore (a Persistent Disk resource in AWS)',
      'VolumeID:\tvol-1',
      'FSType:\text4',
      'Partition:\t0',
      'ReadOnly:\tfalse',
    ],
  ],
  [
    'an NFS directory',
    {name: 'v', nfs: {server: 'nfs.example.com', path: '/export'}},
    [
      'Type:\tNFS (an NFS mount that lasts the lifetime of a pod)',
      'Server:\tnfs.example.com',
      'Path:\t/export',
      'ReadOnly:\tfalse',
    ],
  ],
  [
    'a volume of a CSI driver',
    {name: 'v', csi: {driver: 'd.example.com', readOnly: true, volumeAttributes: {b: '2', a: '1'}}},
    [
      'Type:\tCSI (a Container Storage Interface (CSI) volume source)',
      'Driver:\td.example.com',
      'FSType:',
      'ReadOnly:\ttrue',
      'VolumeAttributes:\ta=1',
      'b=2',
    ],
  ],
  [
    'a generic ephemeral volume',
    {name: 'v', ephemeral: {}},
    [
      'Type:\tEphemeralVolume (an inline specification for a volume that gets created and deleted with the pod)',
    ],
  ],
])('%s is described as by kubectl', (_title, volume, lines) => {
  expect(volumeSection([volume]).map((line) => line.trim())).toEqual(['Volumes:', 'v:', ...lines]);
});
