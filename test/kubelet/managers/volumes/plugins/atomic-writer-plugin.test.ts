import {readdir, readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {Volume} from '../../../../../src/api/types/v1-volumes.js';
import {systemMounter, unmountBelow} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import {mountVolumes, planVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import type {VolumeFacts} from '../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aHost, aPodWith} from '../volume-fixtures.js';
import {aConfigMap, aSecret, objects, OBJECTS} from '../object-fixtures.js';

const MI = 1024n * 1024n;
const FACTS = {
  ...{cpuMilli: 2000n, memoryBytes: 1124n * MI, ephemeralStorageBytes: 1000n * MI},
  hugePageBytes: new Map(),
};

/** Mounting a tmpfs and changing the owner of files require root. */
describe.skipIf(process.getuid?.() !== 0)('on the node (needs root)', () => {
  const signal = new AbortController().signal;
  const VOLUMES: readonly Volume[] = [
    {name: 'c', configMap: {name: 'settings', items: [{key: 'a', path: 'a'}]}},
    {name: 's', secret: {secretName: 'keys', defaultMode: 0o400}},
    {name: 'd', downwardAPI: {items: [{path: 'name', fieldRef: {fieldPath: 'metadata.name'}}]}},
    {name: 'p', projected: {sources: [{secret: {name: 'keys'}}]}},
  ];

  async function aNode(): Promise<VolumeFacts> {
    const rootDir = join(await temporaryDirectory(), 'root');
    onTestFinished(async () => {
      await unmountBelow(rootDir);
    });
    return {rootDir, ...FACTS};
  }

  const dir = ({rootDir}: VolumeFacts, plugin: string, name: string): string =>
    `${rootDir}/pods/u1/volumes/kubernetes.io~${plugin}/${name}`;

  async function owner(path: string): Promise<string> {
    const {uid, gid, mode} = await stat(path);
    return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`;
  }

  test('each volume has its directory, is mounted read-only, and is a tmpfs unless it is a ConfigMap', async () => {
    const node = await aNode();
    const {volumes: mounted} = await mountVolumes(aPodWith(VOLUMES), aHost(node, OBJECTS), signal);
    expect([...mounted]).toEqual([
      ['c', {hostPath: dir(node, 'configmap', 'c'), readOnly: true}],
      ['s', {hostPath: dir(node, 'secret', 's'), readOnly: true}],
      ['d', {hostPath: dir(node, 'downward-api', 'd'), readOnly: true}],
      ['p', {hostPath: dir(node, 'projected', 'p'), readOnly: true}],
    ]);
    const mounts = (await systemMounter.list()).filter(({path}) => path.startsWith(node.rootDir));
    expect(mounts.map(({path, fileSystem}) => `${fileSystem} ${path}`).sort()).toEqual([
      `tmpfs ${dir(node, 'downward-api', 'd')}`,
      `tmpfs ${dir(node, 'projected', 'p')}`,
      `tmpfs ${dir(node, 'secret', 's')}`,
    ]);
    expect(await readFile(join(dir(node, 'secret', 's'), 'password'), 'utf8')).toBe('hunter2');
    expect(await owner(join(dir(node, 'secret', 's'), 'password'))).toBe('0:0 400');
    expect((await readdir(`${node.rootDir}/pods/u1/plugins/kubernetes.io~empty-dir`)).sort()).toEqual([
      'wrapped_c',
      'wrapped_d',
      'wrapped_p',
      'wrapped_s',
    ]);
  });

  test('the files follow their objects, and unchanged volumes are not written', async () => {
    const node = await aNode();
    const pod = aPodWith(VOLUMES);
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    const before = await stat(join(dir(node, 'configmap', 'c'), '..data'));
    const renamed: Pod = {...pod, metadata: {...pod.metadata, name: 'renamed'}};
    await mountVolumes(
      renamed,
      aHost(node, objects(aConfigMap({a: '1', b: 'x'}), aSecret({token: 't'}))),
      signal,
    );
    expect(await readFile(join(dir(node, 'downward-api', 'd'), 'name'), 'utf8')).toBe('renamed');
    const names = await readdir(dir(node, 'secret', 's'));
    expect(names.filter((name) => !name.startsWith('..'))).toEqual(['token']);
    expect((await stat(join(dir(node, 'configmap', 'c'), '..data'))).ino).toBe(before.ino);
  });

  // Proves: SecretVolumeSource.secretName, VolumeProjection.secret
  test('a deleted object fails with the message of the FailedMount event, and the files are kept', async () => {
    const node = await aNode();
    const pod = aPodWith(VOLUMES);
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    await expect(mountVolumes(pod, aHost(node, objects()), signal)).rejects.toMatchObject({
      message: 'MountVolume.SetUp failed for volume "c" : configmap "settings" not found',
      hint: expect.stringContaining('the ConfigMap "default/settings"') as string,
    });
    expect(await readFile(join(dir(node, 'configmap', 'c'), 'a'), 'utf8')).toBe('1');
  });

  // Proves: Volume.secret
  test('nothing is created for a volume that cannot be written', async () => {
    const node = await aNode();
    const pod = aPodWith([{name: 's', secret: {secretName: 'none'}}]);
    await expect(mountVolumes(pod, aHost(node, OBJECTS), signal)).rejects.toThrow('secret "none" not found');
    await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
  });

  test('a volume that contains another mount has its mount point', async () => {
    const node = await aNode();
    const volumeMounts = [
      {name: 's', mountPath: '/etc/keys'},
      {name: 'e', mountPath: '/etc/keys/run/data'},
    ];
    const pod = aPodWith([{name: 's', secret: {secretName: 'keys'}}, {name: 'e'}], {
      containers: [{name: 'main', image: 'i', volumeMounts}],
    });
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    await mountVolumes(pod, aHost(node, OBJECTS), signal);
    expect(await owner(join(dir(node, 'secret', 's'), 'run/data'))).toBe('0:0 755');
  });

  test('a plan lists the files to be written with their modes and creates nothing', async () => {
    const node = await aNode();
    const pod = aPodWith(VOLUMES, {securityContext: {fsGroup: 2000}});
    const host = aHost(node, OBJECTS);
    const {files} = await planVolumes(pod, host);
    expect(files.map(({path, mode}) => `${path} ${mode.toString(8)}`)).toEqual([
      `${dir(node, 'configmap', 'c')}/a 644`,
      `${dir(node, 'secret', 's')}/password 440`,
      `${dir(node, 'secret', 's')}/user 440`,
      `${dir(node, 'downward-api', 'd')}/name 644`,
      `${dir(node, 'projected', 'p')}/password 644`,
      `${dir(node, 'projected', 'p')}/user 644`,
    ]);
    expect(JSON.stringify(files)).not.toContain('hunter2');
    await expect(stat(node.rootDir)).rejects.toThrow('ENOENT');
    await mountVolumes(pod, host, signal);
    expect((await planVolumes(pod, host)).files).toEqual([]);
    const changed = aHost(node, objects(aConfigMap({a: '2'}), aSecret({password: 'hunter2', user: 'me'})));
    expect((await planVolumes(pod, changed)).files).toEqual([
      {path: `${dir(node, 'configmap', 'c')}/a`, mode: 0o644},
    ]);
  });
});
