import {mkdir, mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import {systemClock} from '../../../../../src/base/clock.js';
import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import type {ClaimToProvision} from '../../../../../src/kubelet/contract/volumes/claimed-volume.js';
import type {CsiVolumes, NewCsiVolume} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {CsiCallError} from '../../../../../src/kubelet/managers/volumes/csi/csi-driver-client.js';
import {withProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/with-provisioned-claims.js';
import {VolumeProvisioner} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-provisioner.js';
import {aClaimPod, aClaimToProvision} from '../claim-fixtures.js';

const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'web', namespace: 'default', uid: 'u1'},
  spec: {containers: []},
};

const CLAIM = aClaimToProvision('dirs.example.com', {tier: 'fast', 'csi.storage.k8s.io/fstype': 'ext4'});

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
    expandVolume: async () => ({bytes: 0n, needsNode: false}),
    modifyVolume: async () => undefined,
    deleteVolume: async ({handle}) => {
      deleted.push(handle);
    },
  };
  return new VolumeProvisioner({node: {rootDir}, clock: systemClock, manager: 'sync', csi: () => csi});
}

const provision = async (claim = CLAIM) => {
  const onEvent = ({reason}: {readonly reason: string}): void => {
    events.push(reason);
  };
  return (await provisioner().provision(POD, claim, onEvent, signal)).volume;
};

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

test('the volume of a claim is that of its pod in any copy, as statistics read it, until it is reclaimed', async () => {
  const own = provisioner();
  const objects = withProvisionedClaims({...NO_OBJECTS, claimToProvision: () => CLAIM}, own);
  const volume = {name: 'v', persistentVolumeClaim: {claimName: 'data'}};
  const pod = {...POD, spec: aClaimPod().spec};
  expect(() => objects.claimedVolume?.(pod, volume)).toThrow('is not provisioned yet');
  await objects.load?.(pod, {volumesOnly: false}, signal);
  const found = objects.claimedVolume?.({...pod}, volume);
  expect(found?.volume.spec.csi?.volumeHandle).toMatch(/^id-pvc-/);
  await own.reclaim(() => false);
  expect(() => objects.claimedVolume?.({...pod}, volume)).toThrow('is not provisioned yet');
});

test.each([
  ['it timed out', new CsiCallError('it timed out', false, 'DEADLINE_EXCEEDED')],
  ['a volume may have been created', new CsiCallError('a volume may have been created', true, 'INTERNAL')],
])('a call after which a volume may exist is repeated with its name: %s', async (message, error) => {
  failure = error;
  await expect(provision()).rejects.toThrow(
    `failed to provision volume with StorageClass "dirs": ${message}`,
  );
  expect((await provisioner().reclaim(() => false)).errors).toHaveLength(1);
  created.splice(1);
  failure = undefined;
  await provisioner().reclaim(() => false);
  expect(created[1]?.name).toBe(created[0]?.name);
  expect(deleted).toEqual([`id-${created[0]?.name}`]);
  expect(await stored()).toEqual([]);
});

test('a refused volume leaves nothing', async () => {
  failure = new CsiCallError('it is too large', true, 'OUT_OF_RANGE');
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

test('a claim with a data source is refused before the driver is called', async () => {
  const dataSource = {apiGroup: '', kind: 'PersistentVolumeClaim', name: 'other'};
  await expect(provision({...CLAIM, spec: {...CLAIM.spec, dataSource}})).rejects.toThrow(
    `claim "${CLAIM.name}" has a data source, which kcri does not provide without an API server`,
  );
  expect(events).toEqual(['ProvisioningFailed']);
  expect(created).toEqual([]);
});

test('a claim with volumeMode Block gets a block volume, which is not deleted while it is mapped', async () => {
  const claim: ClaimToProvision = {...CLAIM, spec: {...CLAIM.spec, volumeMode: 'Block'}};
  const {metadata, spec} = await provision(claim);
  expect(spec.volumeMode).toBe('Block');
  expect(created[0]?.blockName).toBe(metadata.name);
  const mapped = join(rootDir, 'plugins/kubernetes.io/csi/volumeDevices', metadata.name ?? '');
  await mkdir(mapped, {recursive: true});
  expect((await provisioner().reclaim(() => false)).reclaimed).toEqual([]);
  await rm(mapped, {recursive: true});
  expect((await provisioner().reclaim(() => false)).reclaimed).toHaveLength(1);
});

test('a container must use the volume of a claim in its mode', async () => {
  const claim: ClaimToProvision = {...CLAIM, spec: {...CLAIM.spec, volumeMode: 'Block'}};
  const objects = withProvisionedClaims({...NO_OBJECTS, claimToProvision: () => claim}, provisioner());
  const pod = {...POD, spec: aClaimPod().spec};
  await objects.load?.(pod, {volumesOnly: false}, signal);
  expect(() => objects.claimedVolume?.(pod, {name: 'v'})).toThrow(
    'volume v has volumeMode Block, but is specified in volumeMounts',
  );
});
