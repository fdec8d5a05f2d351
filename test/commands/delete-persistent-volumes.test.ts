import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {CSI_DRIVER, csiSockets, FakeCsiDriver} from '../fakes/plugins/fake-csi-driver.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  type CommandTestbed,
} from './command-testbed.js';

const VOLUME = {
  ...{version: 1, name: 'pvc-1', claim: 'default/data', manager: 'sync', state: 'Released'},
  ...{request: {driver: CSI_DRIVER}, reclaimPolicy: 'Retain'},
  volume: {metadata: {name: 'pvc-1'}, spec: {csi: {driver: CSI_DRIVER, volumeHandle: 'h'}}},
};
const STAYS = `its data stays with the CSI driver "${CSI_DRIVER}" as the volume "h"\n`;

async function withVolume(fields: object = {}): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  await mkdir(join(testbed.rootDir, 'kcri/volumes'), {recursive: true});
  await writeFile(join(testbed.rootDir, 'kcri/volumes/pvc-1.json'), JSON.stringify({...VOLUME, ...fields}));
  return testbed;
}

/** Returns the records of volumes. */
async function records({rootDir}: CommandTestbed): Promise<readonly string[]> {
  return (await readdir(join(rootDir, 'kcri/volumes'))).filter((name) => name.endsWith('.json'));
}

/** Returns the manifest of a pod with a claim of a class or of a PersistentVolume. */
function manifestWith(source: object): string {
  const pod = aManifest({
    containers: [aContainerSpec('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
    volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'data'}}],
  });
  const spec = {
    ...{accessModes: ['ReadWriteOnce'], storageClassName: 'disks'},
    resources: {requests: {storage: '1Mi'}},
  };
  const claim = {apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: {name: 'data'}, spec};
  return [source, claim].map((object) => JSON.stringify(object)).join('\n---\n') + `\n---\n${pod}`;
}

describe('delete of a PersistentVolume', () => {
  test.each(['pv/pvc-1', 'persistentvolume/pvc-1', 'persistentvolumes/pvc-1'])(
    '%s forgets a released volume, and says where its data stays',
    async (word) => {
      const testbed = await withVolume();
      const list = ['--root-dir', testbed.rootDir, 'get', 'volumes', '--no-headers'];
      const {stdout} = await runKcri(list, {endpoint: testbed.runtime.endpoint});
      expect(stdout).toMatch(/^<none> +pvc-1 +csi +disk\.example\.com +released /);
      expect(await testbed.run(['delete', word])).toEqual({
        ...{stdout: 'persistentvolume "pvc-1" deleted\n', stderr: STAYS, exitCode: 0},
      });
      expect(await records(testbed)).toEqual([]);
      const again = await testbed.run(['delete', word]);
      expectUserError(again);
      expect(again.stderr).toContain('persistentvolume "pvc-1" not found');
    },
  );

  test('continues after a volume that does not exist', async () => {
    const testbed = await withVolume();
    const {stdout, stderr, exitCode} = await testbed.run(['delete', 'pv/none', 'pv/pvc-1']);
    expect(stdout).toBe('persistentvolume "pvc-1" deleted\n');
    expect(stderr).toContain('persistentvolume "none" not found');
    expect(exitCode).toBe(1);
  });

  test.each([
    ['that a claim has', {state: 'Bound'}, 'kcri delete --volumes pvc/default/data'],
    ['that is being created', {state: 'Creating', volume: undefined}, 'kcri delete --volumes pvc/'],
    ['that a pod owns', {state: 'Bound', ownerUid: 'u1'}, 'delete the pod of the claim'],
  ])('%s is an error that names what to delete', async (_what, fields, hint) => {
    const testbed = await withVolume(fields);
    const result = await testbed.run(['delete', 'pv/pvc-1']);
    expectUserError(result);
    expect(result.stderr).toContain('persistentvolume "pvc-1" is bound to the claim "default/data"\nhint: ');
    expect(result.stderr).toContain(hint);
    expect(await records(testbed)).toEqual(['pvc-1.json']);
  });

  test.each([
    ['of an invalid name', 'pv/../pvc-1', 'invalid PersistentVolume "../pvc-1"'],
    ['with a selector', 'pv/pvc-1 -l a=b', 'cannot use names together with --selector'],
  ])('%s is an error', async (_what, line, message) => {
    const testbed = await withVolume();
    const result = await testbed.run(['delete', ...line.split(' ')]);
    expectUserError(result);
    expect(result.stderr).toContain(message);
  });

  test('that a pod uses again as a PersistentVolume of its manifest is an error', async () => {
    const testbed = await createTestbed();
    await using driver = await FakeCsiDriver.start({
      ...csiSockets(testbed.rootDir),
      answers: {CreateVolume: () => ({volume: {volume_id: 'h', capacity_bytes: 1024 ** 2}})},
    });
    const storageClass = manifestWith({
      ...{apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: {name: 'disks'}},
      ...{provisioner: CSI_DRIVER, reclaimPolicy: 'Retain'},
    });
    expect(await testbed.run(['sync', '-'], {stdin: storageClass})).toMatchObject({exitCode: 0});
    const {stdout: retained} = await testbed.run(['delete', '--volumes', 'web']);
    const [, name = ''] =
      /persistentvolume "(pvc-\S+)" of claim "default\/data" retained/.exec(retained) ?? [];
    const volume = manifestWith({
      ...{apiVersion: 'v1', kind: 'PersistentVolume', metadata: {name: 'old'}},
      spec: {
        ...{capacity: {storage: '1Mi'}, accessModes: ['ReadWriteOnce'], storageClassName: 'disks'},
        csi: {driver: CSI_DRIVER, volumeHandle: 'h'},
      },
    });
    expect(await testbed.run(['sync', '-'], {stdin: volume})).toMatchObject({exitCode: 0});
    const used = await testbed.run(['delete', `pv/${name}`]);
    expectUserError(used);
    expect(used.stderr).toContain(`persistentvolume "${name}" is still in use`);
    expect(await testbed.run(['delete', 'web', `pv/${name}`])).toEqual({
      stdout: `pod "default/web" deleted\npersistentvolume "${name}" deleted\n`,
      ...{stderr: STAYS, exitCode: 0},
    });
    expect(driver.callsTo('DeleteVolume')).toEqual([]);
    expect(await records(testbed)).toEqual([]);
  });
});
