import {mkdir} from 'node:fs/promises';
import {expect, onTestFinished, test} from 'vitest';
import type {ApiObject} from '../../../../../src/api/types/v1-objects.js';
import {systemClock, type Clock} from '../../../../../src/base/clock.js';
import {createApiObjects} from '../../../../../src/kubelet/contract/api-objects.js';
import type {PodEvent} from '../../../../../src/kubelet/contract/pod-event.js';
import {createOnDemandCsiManager} from '../../../../../src/kubelet/managers/volumes/csi/csi-node-manager.js';
import {ProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-claims.js';
import {ProvisionedVolumeStore} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-volume-store.js';
import {VolumeProvisioner} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-provisioner.js';
import {withProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/with-provisioned-claims.js';
import {until} from '../../../../base/until.js';
import {CSI_DRIVER, csiSockets, FakeCsiDriver} from '../../../../fakes/plugins/fake-csi-driver.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aClaimPod, aNode} from '../claim-fixtures.js';

const {signal} = new AbortController();
const MIB = 1024 ** 2;

function aClass(name: string, driverName = CSI_DRIVER): ApiObject {
  return {
    ...{apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass', metadata: {name}},
    ...{driverName, parameters: {tier: name}},
  };
}

const CLASSES = [aClass('gold'), aClass('silver'), aClass('foreign', 'other.example.com')];

/** Returns the manifests of a claim with these attributes and this size. */
function manifestsWith(
  attributes: string | undefined,
  {
    storage = '1Mi',
    classes = CLASSES,
  }: {readonly storage?: string; readonly classes?: readonly ApiObject[]} = {},
): readonly ApiObject[] {
  return [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
      ...{provisioner: CSI_DRIVER, allowVolumeExpansion: true},
    },
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'c'}},
      spec: {
        ...{accessModes: ['ReadWriteOnce'], storageClassName: 'disks', resources: {requests: {storage}}},
        ...(attributes !== undefined && {volumeAttributesClassName: attributes}),
      },
    },
    ...classes,
  ];
}

/** Starts a driver; `load` reads the objects of a pod of the claim, as a sync does, in the same process. */
async function aModifyingNode({
  capabilities = ['MODIFY_VOLUME', 'EXPAND_VOLUME'],
  clock = systemClock,
  manager = 'sync',
  modify = () => ({}),
}: {
  readonly capabilities?: readonly string[];
  readonly clock?: Clock;
  readonly manager?: 'sync' | 'kubelet';
  readonly modify?: () => object | Promise<object>;
} = {}) {
  const facts = await aNode();
  await mkdir(facts.rootDir);
  const node = {...GOLDEN_NODE, ...facts};
  const driver = await FakeCsiDriver.start({
    ...csiSockets(facts.rootDir),
    answers: {
      CreateVolume: () => ({volume: {volume_id: 'h', capacity_bytes: MIB}}),
      ControllerGetCapabilities: () => ({capabilities: capabilities.map((type) => ({rpc: {type}}))}),
      ControllerExpandVolume: () => ({capacity_bytes: 2 * MIB, node_expansion_required: false}),
      ControllerModifyVolume: modify,
    },
  });
  onTestFinished(async () => {
    await driver[Symbol.asyncDispose]();
  });
  let events: string[] = [];
  let current = createApiObjects([], []);
  const {csiVolumes: csi} = createOnDemandCsiManager({
    ...{node, clock: systemClock, objects: current},
    claims: new ProvisionedClaims(node.rootDir),
  });
  const provisioner = new VolumeProvisioner({node, clock, manager, csi: () => csi});
  const load = async (manifests: readonly ApiObject[]) => {
    current = createApiObjects(manifests, []);
    const objects = withProvisionedClaims(current, provisioner);
    const record = ({reason, message}: PodEvent): void => void events.push(`${reason}: ${message}`);
    const pod = aClaimPod();
    await objects.load?.(pod, {volumesOnly: false, events: record}, signal);
    return objects.claimedVolume?.(pod, pod.spec.volumes![0]!);
  };
  const happened = (): readonly string[] => {
    const found = events;
    events = [];
    return found;
  };
  const store = new ProvisionedVolumeStore(node.rootDir);
  const status = async () => (await store.list())[0]?.claimStatus;
  return {driver, load, happened, store, status};
}

test('a new volume gets the attributes of its class, as its claim and its PersistentVolume say', async () => {
  const {driver, load, status} = await aModifyingNode();
  const claimed = await load(manifestsWith('gold'));
  expect(driver.callsTo('CreateVolume')).toMatchObject([{mutable_parameters: {tier: 'gold'}}]);
  expect(claimed?.volume.spec.volumeAttributesClassName).toBe('gold');
  expect(await status()).toEqual({
    capacity: {storage: String(MIB)},
    currentVolumeAttributesClassName: 'gold',
  });
  await load(manifestsWith('gold'));
  expect(driver.callsTo('ControllerModifyVolume')).toEqual([]);
});

test('a volume is changed when its claim names another class, once, also beside an expansion', async () => {
  const {driver, load, happened, status} = await aModifyingNode();
  await load(manifestsWith(undefined));
  await load(manifestsWith('gold'));
  happened();
  const claimed = await load(manifestsWith('silver', {storage: '2Mi'}));
  await load(manifestsWith('silver', {storage: '2Mi'}));
  expect(driver.callsTo('ControllerModifyVolume')).toMatchObject([
    {volume_id: 'h', mutable_parameters: {tier: 'gold'}},
    {volume_id: 'h', mutable_parameters: {tier: 'silver'}},
  ]);
  expect(happened()).toEqual([
    expect.stringMatching(/^Resizing: /),
    expect.stringMatching(/^VolumeResizeSuccessful: /),
    'VolumeModify: external resizer is modifying volume c with vac silver',
    'VolumeModifySuccessful: external resizer modified volume c with vac silver successfully',
  ]);
  expect(claimed?.volume.spec).toMatchObject({
    ...{volumeAttributesClassName: 'silver', capacity: {storage: String(2 * MIB)}},
  });
  expect(await status()).toEqual({
    capacity: {storage: String(2 * MIB)},
    currentVolumeAttributesClassName: 'silver',
  });
});

test.each([
  ['missing', /^volumeattributesclass\.storage\.k8s\.io "missing" not found: add the VolumeAttributesClass/],
  ['foreign', /^VAC foreign referenced in PVC is for driver other\.example\.com which does not match/],
])('a volume keeps its attributes if its claim names the class %s', async (name, reason) => {
  const {driver, load, happened, status} = await aModifyingNode();
  await load(manifestsWith('gold'));
  happened();
  for (let time = 0; time < 2; time++)
    expect((await load(manifestsWith(name)))?.volume.spec.volumeAttributesClassName).toBe('gold');
  expect(happened().map((text) => text.replace('VolumeModifyFailed: ', ''))).toEqual([
    expect.stringMatching(reason),
  ]);
  expect(await status()).toMatchObject({
    ...{currentVolumeAttributesClassName: 'gold', modifyVolumeStatus: {status: 'Pending'}},
  });
  await load(manifestsWith('silver'));
  expect(await status()).toEqual({
    capacity: {storage: String(MIB)},
    currentVolumeAttributesClassName: 'silver',
  });
  expect(driver.callsTo('ControllerModifyVolume')).toHaveLength(1);

  const other = await aModifyingNode();
  await expect(other.load(manifestsWith(name))).rejects.toThrow('failed to provision volume');
  expect(other.driver.callsTo('CreateVolume')).toEqual([]);
});

test('a driver that cannot change attributes creates no volume with a class, and keeps one without', async () => {
  const {driver, load, happened, store} = await aModifyingNode({capabilities: []});
  const reason =
    'CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported';
  await expect(load(manifestsWith('gold'))).rejects.toThrow(reason);
  expect(await store.list()).toEqual([]);
  happened();
  await load(manifestsWith(undefined));
  happened();
  for (let time = 0; time < 2; time++) await load(manifestsWith('gold'));
  expect(happened()).toEqual([
    'VolumeModify: external resizer is modifying volume c with vac gold',
    expect.stringContaining(`VolumeModifyFailed: ${reason} (remove volumeAttributesClassName`),
  ]);
  expect(driver.callsTo('ControllerModifyVolume')).toEqual([]);
});

test('an infeasible change is tried again after five minutes, others at the next sync', async () => {
  const clock = new FakeClock();
  const {driver, load, happened, status} = await aModifyingNode({clock});
  await load(manifestsWith('gold'));
  happened();
  const calls = (): number => driver.callsTo('ControllerModifyVolume').length;
  driver.fail('ControllerModifyVolume', 'INTERNAL', 'busy');
  await load(manifestsWith('silver'));
  expect(await status()).toMatchObject({
    modifyVolumeStatus: {targetVolumeAttributesClassName: 'silver', status: 'InProgress'},
    conditions: [
      {type: 'ModifyingVolume', status: 'True'},
      {type: 'ModifyVolumeError', message: expect.stringContaining('busy') as unknown},
    ],
  });
  driver.fail('ControllerModifyVolume', 'INVALID_ARGUMENT', 'no such tier');
  await load(manifestsWith('silver'));
  expect(await status()).toMatchObject({
    ...{currentVolumeAttributesClassName: 'gold', modifyVolumeStatus: {status: 'Infeasible'}},
  });
  await load(manifestsWith('silver'));
  expect(calls()).toBe(2);
  expect(happened().filter((text) => text.startsWith('VolumeModifyFailed'))).toHaveLength(2);
  // The volume may have some of the attributes, so the class that it has is asked for as well.
  await load(manifestsWith('gold'));
  expect(calls()).toBe(3);
  driver.fail('ControllerModifyVolume', 'INVALID_ARGUMENT', 'no such tier');
  await load(manifestsWith('silver'));
  await clock.advance(300_000);
  await load(manifestsWith('silver'));
  expect(calls()).toBe(5);
  expect(await status()).toEqual({
    capacity: {storage: String(MIB)},
    currentVolumeAttributesClassName: 'silver',
  });
});

test('a claim whose volume has attributes must name a class', async () => {
  const {driver, load, happened} = await aModifyingNode();
  await load(manifestsWith('gold'));
  happened();
  await load(manifestsWith(undefined));
  await load(manifestsWith(''));
  const rule = (value: string): string =>
    `ClaimChangeRefused: PersistentVolumeClaim "default/c" is invalid: spec.volumeAttributesClassName: Forbidden: update to ${value} is forbidden when status.currentVolumeAttributesClassName is not nil`;
  expect(happened()).toEqual([rule('nil'), rule('empty string')]);
  expect(driver.callsTo('ControllerModifyVolume')).toEqual([]);
});

test('the pods of a daemon start while a driver hangs in a change', async () => {
  const clock = new FakeClock();
  let resume = (): void => undefined;
  const resumed = new Promise<object>((resolve) => {
    resume = () => {
      resolve({});
    };
  });
  const {load} = await aModifyingNode({clock, manager: 'kubelet', modify: () => resumed});
  await load(manifestsWith('gold'));
  const loading = load(manifestsWith('silver'));
  await until(() => clock.sleeping > 0);
  await clock.advance(5000);
  expect((await loading)?.isGrowing).toBe(true);
  resume();
  await until(async () => (await load(manifestsWith('silver')))?.isGrowing === false);
});
