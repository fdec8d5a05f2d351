import {expect, test} from 'vitest';
import {MIGRATED_TO_CSI, whyNotMounted} from '../../../../../src/api/in-tree-volumes.js';
import type {PersistentVolume} from '../../../../../src/api/types/v1-persistent-volumes.js';
import type {CsiVolume, CsiVolumes} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {migratedVolume} from '../../../../../src/kubelet/managers/volumes/plugins/migrated-volume.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {aClaimPod, aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

const {signal} = new AbortController();

/** Creates a PersistentVolume with this source. */
const aVolume = (source: object, metadata: object = {}, spec: object = {}): PersistentVolume => ({
  metadata: {name: 'pv', ...metadata},
  spec: {claimRef: {namespace: 'shop'}, ...spec, ...source},
});
const inZone = (zone: string): object => ({labels: {'topology.kubernetes.io/zone': zone}});

// The values of csi-translation-lib of Kubernetes 1.36.2.
test.each([
  [
    'awsElasticBlockStore',
    aVolume({awsElasticBlockStore: {volumeID: 'aws://eu-1a/vol-12', fsType: 'xfs', readOnly: true}}),
    {volumeHandle: 'vol-12', fsType: 'xfs', readOnly: true, volumeAttributes: {partition: '0'}},
  ],
  [
    'azureDisk',
    aVolume({azureDisk: {diskName: 'd', diskURI: '/subscriptions/d', cachingMode: 'None', fsType: 'ext4'}}),
    {
      ...{volumeHandle: '/subscriptions/d', fsType: 'ext4'},
      volumeAttributes: {kind: 'Managed', cachingmode: 'None', fstype: 'ext4'},
    },
  ],
  [
    'azureFile',
    aVolume(
      {azureFile: {secretName: 'azure-storage-account-acc-secret', shareName: 's'}},
      {annotations: {'kubernetes.io/azure-file-resource-group': 'group'}},
    ),
    {
      ...{volumeHandle: 'group#acc#s#pv#shop', volumeAttributes: {sharename: 's'}},
      nodeStageSecretRef: {name: 'azure-storage-account-acc-secret', namespace: 'shop'},
    },
  ],
  ['cinder', aVolume({cinder: {volumeID: 'c'}}), {volumeHandle: 'c', volumeAttributes: {}}],
  [
    'gcePersistentDisk',
    aVolume({gcePersistentDisk: {pdName: 'd', partition: 2}}, inZone('eu-west1-b')),
    {volumeHandle: 'projects/UNSPECIFIED/zones/eu-west1-b/disks/d', volumeAttributes: {partition: '2'}},
  ],
  [
    'gcePersistentDisk',
    aVolume({gcePersistentDisk: {pdName: 'd'}}, inZone('eu-west1-b__eu-west1-c')),
    {volumeHandle: 'projects/UNSPECIFIED/regions/eu-west1/disks/d', volumeAttributes: {partition: ''}},
  ],
  [
    'gcePersistentDisk',
    aVolume({gcePersistentDisk: {pdName: 'd'}}),
    {volumeHandle: 'projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d', volumeAttributes: {partition: ''}},
  ],
  [
    'portworxVolume',
    aVolume(
      {portworxVolume: {volumeID: 'p'}},
      {
        annotations: {
          'openstorage.io/auth-secret-name': 'login',
          'openstorage.io/auth-secret-namespace': 'kube-system',
        },
      },
    ),
    {
      volumeHandle: 'p',
      nodeStageSecretRef: {name: 'login', namespace: 'kube-system'},
      nodePublishSecretRef: {name: 'login', namespace: 'kube-system'},
    },
  ],
  [
    'vsphereVolume',
    aVolume({vsphereVolume: {volumePath: '[ds] a.vmdk', storagePolicyName: 'gold'}}),
    {volumeHandle: '[ds] a.vmdk', volumeAttributes: {storagepolicyname: 'gold'}},
  ],
] as const)('a PersistentVolume of the kind %s becomes one of its CSI driver', (kind, volume, source) => {
  expect(migratedVolume(volume)?.source).toEqual({driver: MIGRATED_TO_CSI[kind], ...source});
});

test.each([
  [['ReadOnlyMany'], ['ReadOnlyMany']],
  [['ReadWriteMany'], ['ReadWriteOnce']],
  [['ReadOnlyMany', 'ReadWriteOnce'], ['ReadWriteOnce']],
])('the access modes %j of a disk of Google are %j for its driver', (accessModes, expected) => {
  const volume = aVolume({gcePersistentDisk: {pdName: 'd'}}, {}, {accessModes});
  expect(migratedVolume(volume)?.accessModes).toEqual(expected);
});

test.each([
  [{awsElasticBlockStore: {volumeID: 'aws://a/b'}}, 'Invalid format for AWS volume (aws://a/b)'],
  [{azureDisk: {diskURI: 'u', kind: 'Dedicated'}}, 'kind(Dedicated) is not supported in csi migration'],
  [{cinder: {}}, 'volumeID is not set'],
])('the source %j cannot be translated', (source, message) => {
  expect(() => migratedVolume(aVolume(source))).toThrow(message);
});

test('a claim with a migrated volume is mounted by the CSI driver', async () => {
  const mounted: CsiVolume[] = [];
  const csi: Pick<CsiVolumes, 'mount' | 'isRepublished' | 'hasMountLabel'> = {
    mount: async (volume) => {
      mounted.push(volume);
    },
    isRepublished: () => false,
    hasMountLabel: () => false,
  };
  const spec = {awsElasticBlockStore: {volumeID: 'vol-1'}, accessModes: ['ReadWriteOnce']} as const;
  const host = {...aHost(await aNode(), claims(spec)), csi: csi as CsiVolumes};
  const {volumes} = await mountVolumes(aClaimPod(), host, signal);
  expect(mounted).toMatchObject([
    {driver: 'ebs.csi.aws.com', handle: 'vol-1', name: 'pv', accessModes: ['ReadWriteOnce']},
  ]);
  expect(volumes.get('v')?.hostPath).toMatch(/volumes\/kubernetes\.io~csi\/pv\/mount$/);
});

test.each([
  ['rbd', /Kubernetes has removed volumes of this kind; use the CSI driver rbd\.csi\.ceph\.com/],
  ['flocker', /has removed volumes of this kind, without a CSI driver/],
  ['cinder', /with the CSI driver cinder\.csi\.openstack\.org/],
])(
  'a volume of the kind %s that cannot be mounted has an error that says what to use',
  async (kind, hint) => {
    expect(whyNotMounted(kind)).toMatch(hint);
    if (kind === 'cinder') return;
    const mount = mountVolumes(aClaimPod(), aHost(await aNode(), claims({[kind]: {}})), signal);
    await expect(mount).rejects.toMatchObject({
      message: expect.stringContaining('err=no volume plugin matched') as string,
      hint: expect.stringMatching(hint) as string,
    });
  },
);
