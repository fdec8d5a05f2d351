import {existsSync} from 'node:fs';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import {NO_OBJECTS} from '../../../../../src/kubelet/contract/api-objects.js';
import type {CsiVolume} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {createOnDemandCsiManager} from '../../../../../src/kubelet/managers/volumes/csi/csi-node-manager.js';
import {ProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-claims.js';
import {VolumeProvisioner} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-provisioner.js';
import {until} from '../../../../base/until.js';
import {aPod} from '../../../../fakes/a-pod.js';
import {
  CSI_DRIVER,
  FakeCsiDriver,
  type FakeCsiDriverOptions,
} from '../../../../fakes/plugins/fake-csi-driver.js';
import {GOLDEN_NODE} from '../../../../golden/golden-cases.js';
import {aClaimToProvision, aNode} from '../claim-fixtures.js';

const {signal} = new AbortController();
const never = async (): Promise<object> => await new Promise<object>(() => undefined);

/** Creates a node, and what a command calls its drivers with. */
async function aCommand() {
  const facts = await aNode();
  await mkdir(facts.rootDir);
  const node = {...GOLDEN_NODE, ...facts};
  const {csiVolumes: csi} = createOnDemandCsiManager({
    ...{node, clock: systemClock, objects: NO_OBJECTS},
    claims: new ProvisionedClaims(node.rootDir),
  });
  if (csi === undefined) throw new Error('a command has no CSI volumes');
  const start = async (options: Partial<FakeCsiDriverOptions> = {}): Promise<FakeCsiDriver> => {
    const {name = CSI_DRIVER} = options;
    const driver = await FakeCsiDriver.start({
      path: join(node.rootDir, `plugins/${name}.sock`),
      registration: join(node.rootDir, `plugins_registry/${name}.sock`),
      ...options,
    });
    onTestFinished(async () => {
      await driver[Symbol.asyncDispose]();
    });
    return driver;
  };
  return {node, csi, start};
}

const VOLUME: CsiVolume = {
  ...{pod: aPod(), name: 'v', specName: 'v', driver: CSI_DRIVER, handle: 'h', attributes: {}},
  ...{readOnly: false, isEphemeral: false, fsType: '', accessModes: [], mountOptions: []},
};

test('a driver that hangs when it registers holds up no volume of another driver', async () => {
  const {csi, start} = await aCommand();
  const driver = await start();
  const slow = await start({name: 'slow.example.com', answers: {NodeGetInfo: never}});
  await csi.mount(VOLUME, signal);
  expect(driver.callsTo('NodePublishVolume')).toHaveLength(1);
  expect(slow.calls).toEqual([]);
});

test('the error of a volume says why its driver, which runs, cannot be called', async () => {
  const {csi, start} = await aCommand();
  await start({answers: {NodeGetInfo: () => ({node_id: ''})}});
  await expect(csi.mount(VOLUME, signal)).rejects.toMatchObject({
    message: expect.stringContaining('not found in the list of registered CSI drivers') as string,
    hint: expect.stringMatching(/its registration failed: .*driverNodeID must not be empty/) as string,
  });
});

test('the error of a volume names the sockets that do not answer, of which one may be that of its driver', async () => {
  const {node, csi} = await aCommand();
  await mkdir(join(node.rootDir, 'plugins_registry'));
  await writeFile(join(node.rootDir, 'plugins_registry/dead.sock'), '');
  await expect(csi.mount(VOLUME, signal)).rejects.toMatchObject({
    hint: expect.stringMatching(
      /look into its log: ".*plugins_registry\/dead.sock" does not answer: /,
    ) as string,
  });
});

test('a volume that an interrupted command has staged is unstaged before it is deleted', async () => {
  const {node, csi, start} = await aCommand();
  let stage = never;
  const driver = await start({
    capabilities: ['STAGE_UNSTAGE_VOLUME'],
    answers: {
      CreateVolume: () => ({volume: {volume_id: 'h', capacity_bytes: 1}}),
      DeleteVolume: () => ({}),
      NodeStageVolume: async () => await stage(),
    },
  });
  const provisioner = new VolumeProvisioner({node, clock: systemClock, manager: 'sync', csi: () => csi});
  await provisioner.provision(VOLUME.pod, aClaimToProvision(CSI_DRIVER), () => undefined, signal);
  const interrupt = new AbortController();
  const mounting = csi.mount(VOLUME, interrupt.signal);
  await until(() => driver.callsTo('NodeStageVolume').length > 0);
  interrupt.abort(new Error('interrupted'));
  await expect(mounting).rejects.toThrow('interrupted');
  stage = async () => ({});
  const {reclaimed, errors} = await provisioner.reclaim(() => false);
  expect({claims: reclaimed.map(({claim}) => claim), errors}).toEqual({claims: ['default/data'], errors: []});
  expect(driver.changes).toEqual(['CreateVolume', 'NodeStageVolume', 'NodeUnstageVolume', 'DeleteVolume']);
  expect(existsSync(driver.callsTo('NodeUnstageVolume')[0]?.['staging_target_path'] as string)).toBe(false);
});
