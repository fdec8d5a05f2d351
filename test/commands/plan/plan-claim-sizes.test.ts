import {describe, expect, test} from 'vitest';
import {
  CSI_DRIVER,
  EXPANDING_ANSWERS,
  csiSockets,
  FakeCsiDriver,
} from '../../fakes/plugins/fake-csi-driver.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from '../command-testbed.js';

const MIB = 1024 ** 2;
const POD = aManifest({
  containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
  volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}],
});
const PLANNED =
  /^1 pod: 1 to change; 0 CRI calls\n\npod default\/web \(uid \S+\): change\n {2}enlarges the volume pvc-\S+ of the claim default\/data from 1Mi to 2Mi\n$/;

/** What differs in the manifests. */
interface Changes {
  readonly allowVolumeExpansion?: boolean;
  /** Changed fields of the claim. */
  readonly claim?: object;
  /** More documents. */
  readonly others?: readonly string[];
  /** True to leave the StorageClass out. */
  readonly isWithoutClass?: boolean;
}

/** Writes the manifests of a pod with a claim of this size. */
async function write(
  testbed: CommandTestbed,
  storage: string,
  {allowVolumeExpansion = true, claim = {}, others = [], isWithoutClass = false}: Changes = {},
): Promise<string> {
  const documents = [
    {
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
      ...{provisioner: CSI_DRIVER, allowVolumeExpansion},
    },
    {
      ...{apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}},
      spec: {
        ...{accessModes: ['ReadWriteOnce'], storageClassName: 'disks', resources: {requests: {storage}}},
        ...claim,
      },
    },
  ];
  const shown = documents.slice(isWithoutClass ? 1 : 0);
  return await testbed.write(
    'pod.yaml',
    [...shown.map((one) => JSON.stringify(one)), POD, ...others].join('\n---\n'),
  );
}

/** Starts a driver on a node whose pod has a claim for 1Mi; `expands` is the part of it that enlarges volumes. */
async function synced(expands: 'controller' | 'node' | 'none' = 'controller') {
  const testbed = await createTestbed();
  const driver = await FakeCsiDriver.start({
    ...csiSockets(testbed.rootDir),
    capabilities: ['STAGE_UNSTAGE_VOLUME', ...(expands === 'none' ? [] : ['EXPAND_VOLUME'])],
    answers: {
      ...EXPANDING_ANSWERS,
      ...(expands !== 'controller' && {ControllerGetCapabilities: () => ({capabilities: []})}),
    },
  });
  expect(await testbed.run(['sync', await write(testbed, '1Mi')])).toMatchObject({exitCode: 0});
  const expansions = (): readonly string[] => driver.changes.filter((method) => method.includes('Expand'));
  return {testbed, driver, expansions};
}

describe('a claim that asks for more than its volume has', () => {
  test('is in the plan, which enlarges nothing, and not after the sync', async () => {
    const {testbed, driver, expansions} = await synced();
    await using _driver = driver;
    const file = await write(testbed, '2Mi');
    expect(await testbed.run(['plan', file])).toMatchObject({
      ...{stdout: expect.stringMatching(PLANNED) as string, stderr: '', exitCode: 0},
    });
    expect(await testbed.run(['plan', '--diff', file])).toMatchObject({exitCode: 1});
    expect(expansions()).toEqual([]);
    const {stdout} = await testbed.run(['plan', '-o', 'json', file]);
    expect(JSON.parse(stdout)).toMatchObject([
      {calls: [], resizes: [{claim: 'default/data', size: String(MIB), requested: '2Mi'}]},
    ]);

    expect(await testbed.run(['sync', file])).toMatchObject({exitCode: 0});
    expect(expansions()).toEqual(['ControllerExpandVolume', 'NodeExpandVolume']);
    expect((await testbed.run(['plan', file])).stdout).toMatch(/: nothing to do\n$/);
  });

  test('is in the plan while only its node has to enlarge it', async () => {
    const {testbed, driver, expansions} = await synced();
    await using _driver = driver;
    const file = await write(testbed, '2Mi');
    driver.fail('NodeExpandVolume', 'INTERNAL', 'busy');
    await testbed.run(['sync', file]);
    expect((await testbed.run(['plan', file])).stdout).toMatch(PLANNED);
    expect(expansions()).toEqual(['ControllerExpandVolume', 'NodeExpandVolume']);
  });

  test('is enlarged by a driver whose node does it all', async () => {
    const {testbed, driver} = await synced('node');
    await using _driver = driver;
    expect((await testbed.run(['plan', await write(testbed, '2Mi')])).stdout).toMatch(PLANNED);
  });

  test.each([
    [
      'its driver cannot enlarge volumes',
      {expands: 'none', allowVolumeExpansion: true},
      /: resize volume "pvc-\S+" by resizer "disk\.example\.com" failed: the CSI driver "disk\.example\.com" cannot enlarge volumes$/m,
    ],
    [
      'its class does not allow it',
      {expands: 'controller', allowVolumeExpansion: false},
      /: persistentvolumeclaims "default\/data" is forbidden: only dynamically provisioned pvc can be resized/,
    ],
  ] as const)(
    'keeps its size if %s, in the plan and in the sync',
    async (_why, {expands, ...fields}, why) => {
      const {testbed, driver} = await synced(expands);
      await using _driver = driver;
      const file = await write(testbed, '2Mi', fields);
      for (const flags of [[], ['--diff']]) {
        const {stdout, exitCode} = await testbed.run(['plan', ...flags, file]);
        expect(stdout).toMatch(
          /: nothing to do\n {2}the volume pvc-\S+ of the claim default\/data keeps its 1Mi: /,
        );
        expect(stdout).toMatch(why);
        expect(exitCode).toBe(0);
      }
      const {stderr} = await testbed.run(['sync', file]);
      expect(stderr).toMatch(why);
    },
  );

  test('keeps its size in the plan if its driver has ended', async () => {
    const {testbed, driver} = await synced();
    await driver[Symbol.asyncDispose]();
    const {stdout} = await testbed.run(['plan', await write(testbed, '2Mi')]);
    expect(stdout).toMatch(/ keeps its 1Mi: resize volume .* failed: .*disk\.example\.com not found/);
  });
});

test('a claim that asks for less than before keeps its volume, which plan and sync say', async () => {
  const {testbed, driver, expansions} = await synced();
  await using _driver = driver;
  expect(await testbed.run(['sync', await write(testbed, '2Mi')])).toMatchObject({exitCode: 0});
  const refused =
    'PersistentVolumeClaim "default/data" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity (2Mi)';
  const file = await write(testbed, '1Mi');
  const {stdout: planned} = await testbed.run(['plan', file]);
  expect(planned).toMatch(
    /: nothing to do\n {2}the volume pvc-\S+ of the claim default\/data keeps its 2Mi: /,
  );
  expect(planned).toContain(refused);
  const {stderr, exitCode} = await testbed.run(['sync', file]);
  expect(stderr).toBe(`default/web: VolumeResizeFailed: ${refused}\n`);
  expect(exitCode).toBe(0);
  expect(expansions()).toHaveLength(2);
});

test('a claim that several pods share is enlarged once in a plan', async () => {
  const {testbed, driver} = await synced();
  await using _driver = driver;
  const other = aManifest({
    name: 'other',
    containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
    volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}],
  });
  const file = await write(testbed, '2Mi', {others: [other]});
  const {stdout} = await testbed.run(['plan', file]);
  expect(stdout.match(/enlarges the volume/g)).toHaveLength(1);
  const {stdout: json} = await testbed.run(['plan', '-o', 'json', file]);
  const plans = JSON.parse(json) as readonly {readonly pod: string; readonly resizes?: readonly object[]}[];
  expect(plans.map(({pod, resizes = []}) => `${pod} ${resizes.length}`)).toEqual(['web 1', 'other 0']);
});

test('a claim whose fields have changed keeps its volume, which plan and sync say', async () => {
  const {testbed, driver, expansions} = await synced();
  await using _driver = driver;
  const refused =
    'PersistentVolumeClaim "default/data" is invalid: spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims (accessModes: ["ReadWriteOnce"] → ["ReadWriteMany"])';
  const file = await write(testbed, '2Mi', {claim: {accessModes: ['ReadWriteMany']}});
  const {stdout} = await testbed.run(['plan', file]);
  expect(stdout).toContain(`: nothing to do\n  the claim default/data of the volume pvc-`);
  expect(stdout).toContain(` stays as it is: ${refused}\n`);
  expect(await testbed.run(['sync', file])).toMatchObject({
    ...{stderr: `default/web: ClaimChangeRefused: ${refused}\n`, exitCode: 0},
  });
  expect(expansions()).toEqual([]);
});

test.each([
  [
    'another class, which would make it a directory',
    {claim: {storageClassName: 'other'}},
    /ClaimChangeRefused.*\(storageClassName: "\S+" → "other"\)/,
  ],
  ['no class any more', {isWithoutClass: true}, /^$/],
] as const)('a claim with %s keeps its volume', async (_what, changes, warning) => {
  const {testbed, driver} = await synced();
  await using _driver = driver;
  const file = await write(testbed, '1Mi', changes);
  const {stderr, exitCode} = await testbed.run(['sync', '--replace', file]);
  expect({stderr, exitCode}).toEqual({stderr: expect.stringMatching(warning) as string, exitCode: 0});
  const [, last] = driver.callsTo('NodePublishVolume');
  expect(last).toMatchObject({volume_id: 'h'});
  expect(driver.callsTo('CreateVolume')).toHaveLength(1);
});
