import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {ClaimToProvision} from '../../../../../src/kubelet/contract/volumes/claimed-volume.js';
import type {CsiVolumes, NewCsiVolume} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {CsiCallError} from '../../../../../src/kubelet/managers/volumes/csi/csi-driver-client.js';
import {VolumeProvisioner} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-provisioner.js';

const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'web', namespace: 'default', uid: 'u1'},
  spec: {containers: []},
};

const CLAIM: ClaimToProvision = {
  namespace: 'default',
  name: 'data',
  spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Mi'}}},
  storageClass: {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {name: 'dirs'},
    provisioner: 'dirs.example.com',
    parameters: {tier: 'fast', 'csi.storage.k8s.io/fstype': 'ext4'},
  },
  readOnly: false,
};

let rootDir: string;
let created: NewCsiVolume[];
let deleted: string[];
let events: string[];
let isRegistered: boolean;
let failure: Error | undefined;
const signal = new AbortController().signal;

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'kcri-provisioner-'));
  [created, deleted, events, isRegistered, failure] = [[], [], [], true, undefined];
});
afterEach(async () => {
  await rm(rootDir, {recursive: true});
});

function provisioner(): VolumeProvisioner {
  const csi: CsiVolumes = {
    mount: async () => undefined,
    isRepublished: () => false,
    isAttaching: () => false,
    exceedsLimit: async () => false,
    hasMountLabel: () => false,
    expand: async () => true,
    measure: async () => undefined,
    unmountPod: async () => undefined,
    isRegistered: async () => isRegistered,
    createVolume: async (volume) => {
      created.push(volume);
      if (failure !== undefined) throw failure;
      return {handle: `id-${volume.name}`, bytes: 2n ** 20n, attributes: {}};
    },
    deleteVolume: async ({handle}) => {
      deleted.push(handle);
    },
  };
  return new VolumeProvisioner({node: {rootDir}, manager: 'sync', csi: () => csi});
}

const provision = async (claim = CLAIM) =>
  await provisioner().provision(
    POD,
    claim,
    ({reason}) => {
      events.push(reason);
    },
    signal,
  );

async function stored(): Promise<readonly string[]> {
  const names = await readdir(join(rootDir, 'kcri/volumes')).catch(() => []);
  return names.filter((name) => name.endsWith('.json'));
}

test('a claim has one volume, also for other processes, until it is reclaimed', async () => {
  const volume = await provision();
  expect(volume.spec).toMatchObject({
    storageClassName: 'dirs',
    csi: {driver: 'dirs.example.com', fsType: 'ext4'},
  });
  expect(await provision()).toEqual(volume);
  expect(created).toMatchObject([{requiredBytes: 2n ** 20n, parameters: {tier: 'fast'}}]);
  expect(events).toEqual(['Provisioning', 'ProvisioningSucceeded']);
  expect((await provisioner().reclaim(() => true)).reclaimed).toEqual([]);
  expect((await provisioner().reclaim(() => false)).reclaimed).toHaveLength(1);
  expect(deleted).toEqual([volume.spec.csi?.volumeHandle]);
  expect(await stored()).toEqual([]);
});

test('a call whose result is not known is repeated with its name, and its volume deleted', async () => {
  failure = new CsiCallError('it timed out', false);
  await expect(provision()).rejects.toThrow(
    'failed to provision volume with StorageClass "dirs": it timed out',
  );
  failure = undefined;
  await provisioner().reclaim(() => false);
  expect(created[1]?.name).toBe(created[0]?.name);
  expect(deleted).toEqual([`id-${created[0]?.name}`]);
  expect(await stored()).toEqual([]);
});

test('a refused volume leaves nothing', async () => {
  failure = new CsiCallError('it is too large', true);
  await expect(provision()).rejects.toThrow('it is too large');
  expect(events).toEqual(['Provisioning', 'ProvisioningFailed']);
  expect(await stored()).toEqual([]);
});

test('a driver that is not there is waited for', async () => {
  isRegistered = false;
  await expect(provision()).rejects.toThrow("by the external provisioner 'dirs.example.com'");
  expect(events).toEqual(['ExternalProvisioning']);
  expect(created).toEqual([]);
});

test('the volume of a pod is deleted with its directory, and one with the policy Retain is kept', async () => {
  const {storageClass} = CLAIM;
  await provision({...CLAIM, ownerUid: 'u1'});
  await provision({...CLAIM, storageClass: storageClass && {...storageClass, reclaimPolicy: 'Retain'}});
  await provisioner().reclaimOf('u1');
  expect(deleted).toHaveLength(1);
  expect((await provisioner().reclaim(() => false)).reclaimed).toMatchObject([{isRetained: true}]);
  expect(await stored()).toHaveLength(1);
  expect((await provisioner().reclaim(() => false)).reclaimed).toEqual([]);
});

test.each([
  ['a data source', {dataSource: {apiGroup: '', kind: 'PersistentVolumeClaim', name: 'other'}}],
  ['volumeMode Block', {volumeMode: 'Block'}],
] as const)('a claim with %s is refused before the driver is called', async (part, fields) => {
  await expect(provision({...CLAIM, spec: {...CLAIM.spec, ...fields}})).rejects.toThrow(
    `claim "${CLAIM.name}" has ${part}, which kcri does not provide without an API server`,
  );
  expect(events).toEqual(['ProvisioningFailed']);
  expect(created).toEqual([]);
});
