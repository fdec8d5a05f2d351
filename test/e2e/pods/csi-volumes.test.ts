import {existsSync} from 'node:fs';
import {mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {startExampleCsiDriver, type ExampleCsiDriver} from '../harness/example-csi-driver.js';
import {hasSysResource} from '../harness/container-facts.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const MANIFEST = fileURLToPath(new URL('../../../examples/csi-driver/pod.yaml', import.meta.url));

describe.each(newestRuntime)('volumes of a CSI driver without a cluster: $name', (which) => {
  let testbed: PodTestbed;
  let driver: ExampleCsiDriver;
  let manifest: string;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    driver = await startExampleCsiDriver(testbed.runtime.rootDir);
    manifest = await readFile(MANIFEST, 'utf8');
  });
  afterAll(async () => {
    await testbed.delete('csi-user', '--volumes');
    await driver[Symbol.asyncDispose]();
    await testbed[Symbol.asyncDispose]();
  });

  const run = async (command: string): Promise<string> => {
    const {containers} = await testbed.pod('csi-user');
    const running = containers.find(({state}) => state === 'CONTAINER_RUNNING');
    return await testbed.exec(containerId(running?.id ?? ''), 'sh', '-c', command);
  };
  const images = async (): Promise<readonly string[]> =>
    (await Promise.all(['volumes', 'ephemeral'].map((name) => readdir(join(driver.dataDir, name))))).flat();
  const mounts = async (): Promise<readonly string[]> =>
    (await readFile('/proc/self/mountinfo', 'utf8'))
      .split('\n')
      .map((line) => line.split(' ')[4] ?? '')
      .filter((path) => path.startsWith(testbed.runtime.rootDir) && path.includes('csi'));
  const records = async (): Promise<readonly string[]> => {
    const directory = join(testbed.runtime.rootDir, 'kcri/volumes');
    return existsSync(directory) ? (await readdir(directory)).filter((name) => name.endsWith('.json')) : [];
  };

  // Proves: Volume.csi, Volume.ephemeral, CSIVolumeSource.driver, CSIVolumeSource.volumeAttributes,
  //   EphemeralVolumeSource.volumeClaimTemplate, PersistentVolumeClaimTemplate.spec,
  //   PersistentVolumeClaimSpec.accessModes, PersistentVolumeClaimSpec.storageClassName,
  //   PersistentVolumeClaimSpec.resources, VolumeResourceRequirements.requests
  test('a claim has a quota and keeps its data when its pod is replaced; --rm unmounts and deletes all', async () => {
    const synced = await testbed.sync(manifest);
    expect(synced).toMatchObject({exitCode: 0});
    expect(await images()).toHaveLength(3);
    expect(await run('echo kept > /data/file; wc -l < /data/starts')).toBe('1');
    expect(await run('head -c 20000000 /dev/zero > /data/large 2>&1; echo $?; rm /data/large')).toMatch(
      /No space left|1/,
    );
    expect(await run('head -c 6000000 /dev/zero > /scratch/large 2>/dev/null || echo full')).toBe('full');

    expect(await testbed.sync(manifest, ['--replace'])).toMatchObject({exitCode: 0});
    expect(await run('cat /data/file; wc -l < /data/starts; ls /cache/file 2>/dev/null; true')).toBe(
      'kept\n2',
    );
    expect(await images()).toHaveLength(3);

    expect(await testbed.sync(manifest, ['--rm'])).toMatchObject({exitCode: 0});
    expect(await mounts()).toEqual([]);
    expect(await images()).toEqual([]);
    expect(await records()).toEqual([]);
  });

  test('a claim keeps its volume until delete --volumes; the volume of the pod ends with it', async () => {
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    await testbed.delete('csi-user');
    expect(await mounts()).toEqual([]);
    expect(await images()).toHaveLength(1);
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    expect(await run('wc -l < /data/starts')).toBe('2');
    expect((await testbed.delete('csi-user', '--volumes')).stdout).toMatch(
      /persistentvolume "pvc-.*" of claim "default\/data" deleted/,
    );
    expect(await images()).toEqual([]);
  });

  test('a claim that asks for more is enlarged while its container runs, which its driver may refuse', async () => {
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const fill = 'head -c 20000000 /dev/zero > /data/large 2>/dev/null && echo fits || echo full';
    expect(await run(fill)).toBe('full');
    const {containers: before} = await testbed.pod('csi-user');
    const larger = manifest.replace('storage: 16Mi', 'storage: 32Mi');
    const {exitCode, stderr} = await testbed.sync(larger);
    const isEnlarged = hasSysResource();
    expect({exitCode, stderr}).toEqual(
      isEnlarged
        ? {exitCode: 0, stderr: ''}
        : {exitCode: 1, stderr: expect.stringContaining('Permission denied to resize filesystem') as unknown},
    );
    const described = await testbed.runtime.kcri(['describe', 'csi-user']);
    expect(described.stdout).toMatch(/ Resizing +.*External resizer is resizing volume pvc-/);
    expect(described.stdout).toMatch(
      isEnlarged ? / FileSystemResizeSuccessful / : / FileSystemResizeRequired /,
    );
    expect(await run(fill)).toBe(isEnlarged ? 'fits' : 'full');
    const {containers} = await testbed.pod('csi-user');
    expect(containers.map(({id}) => id)).toEqual(before.map(({id}) => id));
    await testbed.delete('csi-user', '--volumes');
    expect(await mounts()).toEqual([]);
    expect(await images()).toEqual([]);
  });

  test('a volume whose class has a secret is deleted with the manifests of its pod', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-manifests-'));
    const file = join(directory, 'pod.yaml');
    const parameters = ['provisioner-secret-name: keys', 'provisioner-secret-namespace: default']
      .map((parameter) => `  csi.storage.k8s.io/${parameter}\n`)
      .join('');
    const secret = `apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\nstringData: {key: x}\n---\n`;
    const withSecret = `${secret}${manifest.replace('reclaimPolicy: Delete\n', (text) => `${text}parameters:\n${parameters}`)}`;
    try {
      await writeFile(file, withSecret);
      expect(await testbed.sync(withSecret)).toMatchObject({exitCode: 0});
      const {stderr, stdout} = await testbed.delete(file, '--volumes');
      expect({stderr, stdout}).toEqual({
        stderr: '',
        stdout: expect.stringMatching(
          /persistentvolume "pvc-.*" of claim "default\/data" deleted/,
        ) as unknown,
      });
      expect(await images()).toEqual([]);
    } finally {
      await rm(directory, {recursive: true});
    }
  });

  test('a volume with the policy Retain stays', async () => {
    const retained = manifest.replace('reclaimPolicy: Delete', 'reclaimPolicy: Retain');
    expect(await testbed.sync(retained, ['--rm'])).toMatchObject({exitCode: 0});
    expect(await mounts()).toEqual([]);
    expect(await images()).toHaveLength(2);
    expect(await records()).toHaveLength(2);
  });

  test('a driver that is not there is named in the words of the provisioner', async () => {
    const other = manifest
      .replace('provisioner: dirs.example.com', 'provisioner: other.example.com')
      .replace('metadata: {name: data}', 'metadata: {name: none}')
      .replace('claimName: data', 'claimName: none');
    const {stderr, stdout, exitCode} = await testbed.sync(other, ['--replace']);
    expect(exitCode).toBe(1);
    expect(stdout + stderr).toContain(
      "Waiting for a volume to be created either by the external provisioner 'other.example.com'",
    );
    expect(await mounts()).toEqual([]);
  });
});
