import {expect, test} from 'vitest';
import {
  csiSockets,
  CSI_DRIVER,
  EXPANDING_ANSWERS,
  FakeCsiDriver,
} from '../../fakes/plugins/fake-csi-driver.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

/** Writes a pod whose claim and ephemeral volume name a class, and these classes. */
async function write(
  testbed: CommandTestbed,
  className: string,
  classes: readonly string[],
): Promise<string> {
  const spec = {
    ...{accessModes: ['ReadWriteOnce'], storageClassName: 'disks', volumeAttributesClassName: className},
    resources: {requests: {storage: '1Mi'}},
  };
  const documents = [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
      provisioner: CSI_DRIVER,
    },
    {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}, spec},
    ...classes.map((name, index) => ({
      apiVersion: index === 0 ? 'storage.k8s.io/v1' : 'storage.k8s.io/v1beta1',
      ...{kind: 'VolumeAttributesClass', metadata: {name}, driverName: CSI_DRIVER, parameters: {tier: name}},
    })),
  ];
  const pod = aManifest({
    containers: [
      aContainerSpec('main', {volumeMounts: ['v', 'own'].map((name) => ({name, mountPath: `/${name}`}))}),
    ],
    volumes: [
      {name: 'v', persistentVolumeClaim: {claimName: 'data'}},
      {name: 'own', ephemeral: {volumeClaimTemplate: {spec}}},
    ],
  });
  return await testbed.write(
    'pod.yaml',
    [...documents.map((one) => JSON.stringify(one)), pod].join('\n---\n'),
  );
}

async function aDriver(rootDir: string, capabilities: readonly string[]): Promise<FakeCsiDriver> {
  return await FakeCsiDriver.start({
    ...csiSockets(rootDir),
    answers: {
      ...EXPANDING_ANSWERS,
      CreateVolume: ({name}) => ({volume: {volume_id: String(name), capacity_bytes: 1024 ** 2}}),
      ControllerGetCapabilities: () => ({capabilities: capabilities.map((type) => ({rpc: {type}}))}),
      ControllerModifyVolume: () => ({}),
    },
  });
}

// Proves: PersistentVolumeClaimSpec.volumeAttributesClassName
test('volumes of a sync get the attributes of their class, and of another one later', async () => {
  const testbed = await createTestbed();
  await using driver = await aDriver(testbed.rootDir, ['MODIFY_VOLUME']);
  const classes = ['gold', 'silver'];
  const first = await testbed.run(['sync', '--strict', await write(testbed, 'gold', classes)]);
  expect(first).toMatchObject({exitCode: 0, stderr: ''});
  const gold = {mutable_parameters: {tier: 'gold'}};
  expect(driver.callsTo('CreateVolume')).toMatchObject([gold, gold]);
  const second = await testbed.run(['sync', '--replace', await write(testbed, 'silver', classes)]);
  expect(second).toMatchObject({exitCode: 0, stderr: ''});
  expect(driver.callsTo('ControllerModifyVolume')).toMatchObject([{mutable_parameters: {tier: 'silver'}}]);
  const third = await testbed.run(['sync', await write(testbed, 'bronze', classes)]);
  expect(third.stderr).toContain(
    'VolumeModifyFailed: volumeattributesclass.storage.k8s.io "bronze" not found',
  );
});

test.each([
  [{driverName: ''}, 'driverName: Required value'],
  [{parameters: {}}, 'parameters: Required value: must contain at least one key/value pair'],
  [{parameters: {'': 'a'}}, 'parameters: Invalid value: "": field can not be empty.'],
])('an invalid class with %j is rejected', async (fields, problem) => {
  const testbed = await createTestbed();
  const object = {
    ...{apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttributesClass', metadata: {name: 'gold'}},
    ...{driverName: CSI_DRIVER, parameters: {tier: 'gold'}, ...fields},
  };
  const file = await testbed.write('pod.yaml', `${JSON.stringify(object)}\n---\n${aManifest({})}`);
  expect((await testbed.run(['sync', file])).stderr).toContain(problem);
});
