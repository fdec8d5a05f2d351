import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {acquireLock} from '../../src/base/fs/lock.js';
import {kubeletLockPath} from '../../src/kubelet/pods/registry/running-kubelet.js';
import {FakeCsiDriver} from '../fakes/plugins/fake-csi-driver.js';
import {aManifest, createTestbed, expectUserError, type CommandTestbed} from './command-testbed.js';
import type {RunResult} from '../cli/run-kcri.js';

function expectFailure(result: RunResult, message: string): void {
  expectUserError(result);
  expect(result).toMatchObject({exitCode: 1, stderr: expect.stringContaining(`kcri: ${message}`) as unknown});
}

describe('delete of a claim', () => {
  const volume = {
    ...{version: 1, name: 'pvc-1', claim: 'default/data', manager: 'kubelet', state: 'Bound'},
    ...{request: {driver: 'csi.test'}, reclaimPolicy: 'Retain'},
    volume: {metadata: {name: 'pvc-1'}, spec: {csi: {driver: 'csi.test', volumeHandle: 'h'}}},
  };

  async function withVolume(fields: object = {}): Promise<CommandTestbed> {
    const testbed = await createTestbed();
    await mkdir(join(testbed.rootDir, 'kcri/volumes'), {recursive: true});
    await writeFile(join(testbed.rootDir, 'kcri/volumes/pvc-1.json'), JSON.stringify({...volume, ...fields}));
    return testbed;
  }

  test.each([
    ['pvc/data', []],
    ['persistentvolumeclaim/default/data', []],
    ['pvc/data', ['-n', 'default']],
  ])('%s %s reclaims the volume that a kubelet which has ended had created', async (word, flags) => {
    const testbed = await withVolume();
    expect(await testbed.run(['delete', '--volumes', word, ...flags])).toEqual({
      stdout: 'persistentvolume "pvc-1" of claim "default/data" retained\n',
      ...{stderr: '', exitCode: 0},
    });
    const again = await testbed.run(['delete', '--volumes', word, ...flags]);
    expectFailure(again, 'persistentvolumeclaim "default/data" not found');
  });

  test('calls the driver, whose failure keeps the record', async () => {
    const testbed = await withVolume({reclaimPolicy: 'Delete'});
    const result = await testbed.run(['delete', '--volumes', 'pvc/data']);
    expectFailure(result, 'cannot delete the volume "pvc-1" of the claim "default/data": ');
    expect(await readdir(join(testbed.rootDir, 'kcri/volumes'))).toContain('pvc-1.json');
  });

  test.each([
    ['alone', []],
    ['with a pod', ['web']],
  ])('%s hands the Secret of a manifest to the driver', async (_what, pods) => {
    const testbed = await withVolume({
      reclaimPolicy: 'Delete',
      request: {driver: 'csi.test', secret: {namespace: 'storage', name: 'keys'}},
    });
    await testbed.run(['sync', '-'], {stdin: aManifest({name: 'web'})});
    const metadata = {name: 'keys', namespace: 'storage'};
    const secret = {apiVersion: 'v1', kind: 'Secret', metadata, stringData: {key: 'k'}};
    const file = await testbed.write('secret.json', JSON.stringify(secret));
    await using driver = await FakeCsiDriver.start({
      path: join(testbed.rootDir, 'plugins/test/csi.sock'),
      registration: join(testbed.rootDir, 'plugins_registry/test-reg.sock'),
      name: 'csi.test',
      answers: {
        GetPluginInfo: () => ({name: 'csi.test'}),
        ControllerGetCapabilities: () => ({capabilities: [{rpc: {type: 'CREATE_DELETE_VOLUME'}}]}),
        DeleteVolume: () => ({}),
      },
    });
    const result = await testbed.run(['delete', '--volumes', ...pods, 'pvc/data', '-f', file]);
    expect(result).toMatchObject({stderr: '', exitCode: 0});
    expect(driver.callsTo('DeleteVolume')).toMatchObject([{volume_id: 'h', secrets: {key: 'k'}}]);
  });

  test('removes its directory', async () => {
    const testbed = await createTestbed();
    await mkdir(join(testbed.rootDir, 'claims/test/data'), {recursive: true});
    expect(await testbed.run(['delete', '--volumes', 'pvc/data', '-n', 'test'])).toEqual({
      stdout: 'persistentvolumeclaim "test/data" deleted\n',
      ...{stderr: '', exitCode: 0},
    });
    expect(await readdir(join(testbed.rootDir, 'claims'))).toEqual([]);
  });

  test('that a pod uses is an error, and it is deleted together with the pod', async () => {
    const testbed = await withVolume();
    const volumes = [{name: 'data', persistentVolumeClaim: {claimName: 'data'}}];
    await testbed.run(['sync', '-'], {stdin: aManifest({name: 'web', volumes})});
    const result = await testbed.run(['delete', '--volumes', 'pvc/data']);
    expectFailure(result, 'persistentvolumeclaim "default/data" is used by pod "default/web"');
    expect((await testbed.run(['delete', '--volumes', 'web', 'pvc/data'])).stdout).toBe(
      'pod "default/web" deleted\npersistentvolume "pvc-1" of claim "default/data" retained\n',
    );
  });

  test.each([
    ['without --volumes', ['pvc/data'], 'deleting a claim deletes its data'],
    ['that does not exist', ['--volumes', 'pvc/none'], 'persistentvolumeclaim "default/none" not found'],
    ['of two namespaces', ['--volumes', 'pvc/test/data/other'], 'invalid claim "test/data/other"'],
    ['outside of the claims', ['--volumes', 'pvc/../data'], 'invalid claim "../data"'],
    ['with a selector', ['--volumes', 'pvc/data', '-l', 'a=b'], 'cannot use names together with --selector'],
  ])('%s is an error', async (_what, args, message) => {
    const testbed = await withVolume();
    expectFailure(await testbed.run(['delete', ...args]), message);
  });

  test('that belongs to a running kubelet is an error', async () => {
    const testbed = await withVolume();
    await using _kubelet = await acquireLock(kubeletLockPath(testbed.rootDir));
    await writeFile(join(testbed.rootDir, 'kcri/kubelet.json'), JSON.stringify({pid: 1234}));
    const result = await testbed.run(['delete', '--volumes', 'pvc/data']);
    expectFailure(
      result,
      'persistentvolumeclaim "default/data" belongs to the kubelet of this root directory (PID 1234)',
    );
  });
});
