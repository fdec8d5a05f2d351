import {mkdir} from 'node:fs/promises';
import {expect, onTestFinished, test} from 'vitest';
import type {ApiObject} from '../../../../../src/api/types/v1-objects.js';
import {systemClock, type Clock} from '../../../../../src/base/clock.js';
import {createApiObjects} from '../../../../../src/kubelet/contract/api-objects.js';
import type {MountedVolume} from '../../../../../src/kubelet/contract/pod-filesystem.js';
import type {PodEvent} from '../../../../../src/kubelet/contract/pod-event.js';
import {createOnDemandCsiManager} from '../../../../../src/kubelet/managers/volumes/csi/csi-node-manager.js';
import {ProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-claims.js';
import {VolumeProvisioner} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-provisioner.js';
import {withProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/with-provisioned-claims.js';
import {removePodDir} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {until} from '../../../../base/until.js';
import {
  CSI_DRIVER,
  csiSockets,
  FakeCsiDriver,
  type FakeCsiDriverOptions,
} from '../../../../fakes/plugins/fake-csi-driver.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aClaimPod, aNode} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

const {signal} = new AbortController();
const PREFIX = 'csi.storage.k8s.io/';
const SECRETS = ['provisioner', 'controller-expand', 'node-expand'];
const MIB = 1024 ** 2;

/** Returns the manifests of a claim of this size, and of Secrets with the purposes as their keys. */
function manifestsWith(storage: string): readonly ApiObject[] {
  const parameters = Object.fromEntries(
    SECRETS.flatMap((purpose) => [
      [`${PREFIX}${purpose}-secret-name`, purpose],
      [`${PREFIX}${purpose}-secret-namespace`, 'default'],
    ]),
  ) as Record<string, string>;
  return [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
      ...{provisioner: CSI_DRIVER, allowVolumeExpansion: true, parameters},
    },
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'c'}},
      spec: {accessModes: ['ReadWriteOnce'], storageClassName: 'disks', resources: {requests: {storage}}},
    },
    ...SECRETS.map((name): ApiObject => ({
      ...{apiVersion: 'v1', kind: 'Secret', metadata: {name}},
      data: {[name]: Buffer.from('x')},
    })),
  ];
}

/** Starts a driver on a node; `start` starts a process with the manifests, `mount` is a sync of its pod. */
async function aProvisionedNode(
  whenExpanding: Promise<void> = Promise.resolve(),
  answers: FakeCsiDriverOptions['answers'] = {},
) {
  const facts = await aNode();
  await mkdir(facts.rootDir);
  const node = {...GOLDEN_NODE, ...facts};
  const driver = await FakeCsiDriver.start({
    ...csiSockets(facts.rootDir),
    capabilities: ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
    answers: {
      CreateVolume: () => ({volume: {volume_id: 'h', capacity_bytes: MIB}}),
      DeleteVolume: () => ({}),
      ControllerGetCapabilities: () => ({capabilities: [{rpc: {type: 'EXPAND_VOLUME'}}]}),
      ControllerExpandVolume: async () => {
        await whenExpanding;
        return {capacity_bytes: 2 * MIB, node_expansion_required: true};
      },
      ...answers,
    },
  });
  onTestFinished(async () => {
    await driver[Symbol.asyncDispose]();
  });
  const happened: PodEvent[] = [];
  const events = (event: PodEvent): void => void happened.push(event);
  const start = (manager: 'sync' | 'kubelet' = 'sync', clock: Clock = systemClock) => {
    const mounted = new Map<string, MountedVolume>();
    const open = (storage: string) => {
      const objects = createApiObjects(manifestsWith(storage), []);
      const {csiVolumes: csi} = createOnDemandCsiManager({
        ...{node, clock: systemClock, objects},
        claims: new ProvisionedClaims(node.rootDir),
      });
      const provisioner = new VolumeProvisioner({node, clock, manager, csi: () => csi});
      return {csi, provisioner, objects: withProvisionedClaims(objects, provisioner)};
    };
    const sync = async ({csi, objects}: ReturnType<typeof open>, during = signal) => {
      const pod = aClaimPod();
      await objects.load?.(pod, {volumesOnly: false, events}, during);
      return await mountVolumes(pod, {...aHost(node, objects), csi, events}, during, mounted);
    };
    const mount = async (storage: string, during = signal) => await sync(open(storage), during);
    return {open, sync, mount};
  };
  const reasons = (): readonly string[] => happened.splice(0).map(({reason}) => reason);
  const expansions = (): readonly string[] => driver.changes.filter((method) => method.includes('Expand'));
  return {node, driver, start, reasons, expansions};
}

test('a volume of a claim that asks for more is enlarged by the controller and on the node while it is mounted', async () => {
  const {driver, start, reasons, expansions} = await aProvisionedNode();
  const {mount} = start();
  await mount('1Mi');
  expect(reasons()).toEqual(['Provisioning', 'ProvisioningSucceeded']);
  await mount('2Mi');
  await mount('2Mi');
  expect(reasons()).toEqual(['Resizing', 'FileSystemResizeRequired', 'FileSystemResizeSuccessful']);
  expect(expansions()).toEqual(['ControllerExpandVolume', 'NodeExpandVolume']);
  const capacity = {required_bytes: String(2 * MIB)};
  expect(driver.callsTo('ControllerExpandVolume')).toMatchObject([
    {volume_id: 'h', capacity_range: capacity, secrets: {'controller-expand': 'x'}},
  ]);
  expect(driver.callsTo('NodeExpandVolume')).toMatchObject([
    {volume_id: 'h', capacity_range: capacity, secrets: {'node-expand': 'x'}},
  ]);
  expect(driver.callsTo('NodePublishVolume')).toHaveLength(1);
});

test('the pods of a daemon start while the controller hangs, and are synced again', async () => {
  let resume = (): void => undefined;
  const resumed = new Promise<void>((resolve) => {
    resume = resolve;
  });
  const {start, expansions} = await aProvisionedNode(resumed);
  await start().mount('1Mi');
  const clock = new FakeClock();
  const {open, sync} = start('kubelet', clock);
  const process = open('2Mi');
  const syncing = sync(process);
  await until(() => clock.sleeping > 0);
  await clock.advance(5000);
  const {volumes, isExpanding} = await syncing;
  expect({volumes: volumes.size, isExpanding}).toEqual({volumes: 1, isExpanding: true});
  resume();
  await until(async () => (await sync(process)).isExpanding !== true);
  expect(expansions()).toEqual(['ControllerExpandVolume', 'NodeExpandVolume']);
});

test('what a process has left of an expansion is done by the next one', async () => {
  const {driver, start, reasons, expansions} = await aProvisionedNode();
  await start().mount('1Mi');
  driver.fail('NodeExpandVolume', 'INTERNAL', 'busy');
  await expect(start().mount('2Mi')).rejects.toThrow('busy');
  expect(reasons().slice(2)).toEqual(['Resizing', 'FileSystemResizeRequired', 'FailedMount']);
  await start().mount('2Mi');
  expect(reasons()).toEqual(['FileSystemResizeSuccessful']);
  await start().mount('2Mi');
  expect(expansions()).toEqual(['ControllerExpandVolume', 'NodeExpandVolume', 'NodeExpandVolume']);
});

test('a command that is interrupted does not wait for a driver that hangs on the node', async () => {
  const NodeExpandVolume = async (): Promise<object> => await new Promise(() => undefined);
  const {driver, start} = await aProvisionedNode(undefined, {NodeExpandVolume});
  const {mount} = start();
  await mount('1Mi');
  const end = new AbortController();
  const mounting = expect(mount('2Mi', end.signal)).rejects.toThrow('interrupted');
  await until(() => driver.callsTo('NodeExpandVolume').length > 0);
  end.abort(new Error('interrupted'));
  await mounting;
});

test('the driver gets the secret of its class when it deletes a volume, but not without the manifests', async () => {
  const {node, driver, start} = await aProvisionedNode();
  const {mount, open} = start();
  await mount('1Mi');
  const {csi, provisioner} = open('1Mi');
  await removePodDir(node, 'u1', {csi});
  const without = createOnDemandCsiManager({
    ...{node, clock: systemClock, objects: createApiObjects([], [])},
    claims: new ProvisionedClaims(node.rootDir),
  });
  const other = new VolumeProvisioner({
    node,
    clock: systemClock,
    manager: 'sync',
    csi: () => without.csiVolumes,
  });
  const {errors} = await other.reclaim(() => false);
  expect(errors.map(({message}) => message)).toEqual([
    expect.stringMatching(/secrets "provisioner" not found$/),
  ]);
  expect((await provisioner.reclaim(() => false)).errors).toEqual([]);
  expect(driver.callsTo('DeleteVolume')).toMatchObject([{volume_id: 'h', secrets: {provisioner: 'x'}}]);
});
