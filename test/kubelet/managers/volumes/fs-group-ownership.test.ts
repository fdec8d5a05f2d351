import {link, lstat, mkdir, stat, symlink, writeFile} from 'node:fs/promises';
import {execFileSync} from 'node:child_process';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {unmountBelow} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {groupMode, setVolumeOwnership} from '../../../../src/kubelet/managers/volumes/fs-group-ownership.js';
import {mountVolumes} from '../../../../src/kubelet/managers/volumes/volume-manager.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aConfigMap, aSecret, objects, OBJECTS} from './object-fixtures.js';
import {aHost, aPodWith} from './volume-fixtures.js';

const MI = 1024n * 1024n;

test.each([
  ['a writable file', groupMode(0o100600, false, false), 0o660],
  ['a read-only file', groupMode(0o100400, false, true), 0o440],
  ['an executable file', groupMode(0o104755, false, false), 0o4775],
  ['a writable directory', groupMode(0o040777, true, false), 0o2777],
  ['a read-only directory', groupMode(0o040700, true, true), 0o2750],
  ['a memory volume', groupMode(0o041777, true, false), 0o3777],
])('the group permissions of %s', (_title, mode, expected) => {
  expect(mode.toString(8)).toBe(expected.toString(8));
});

test('without an fsGroup nothing is changed', async () => {
  const path = await temporaryDirectory();
  const before = await stat(path);
  await setVolumeOwnership(path, {fsGroup: undefined, readOnly: false});
  expect((await stat(path)).ctimeMs).toBe(before.ctimeMs);
});

/** Changing the owner of files requires root. */
describe.skipIf(process.getuid?.() !== 0)('with real ownership (needs root)', () => {
  const FS_GROUP = 4242;

  async function ownership(path: string): Promise<readonly [gid: number, mode: string]> {
    const {gid, mode} = await lstat(path);
    return [gid, (mode & 0o7777).toString(8)];
  }

  // Proves: PodSecurityContext.fsGroup
  test('all volumes of a pod belong to its fsGroup and are readable by it, also after an update', async () => {
    const rootDir = join(await temporaryDirectory(), 'root');
    onTestFinished(async () => {
      await unmountBelow(rootDir);
    });
    const node = {
      rootDir,
      cpuMilli: 2000n,
      memoryBytes: MI,
      ephemeralStorageBytes: MI,
      hugePageBytes: new Map(),
    };
    const volumes = [
      {name: 'c', configMap: {name: 'settings', items: [{key: 'a', path: 'a'}]}},
      {name: 's', secret: {secretName: 'keys', defaultMode: 0o400}},
      {name: 'e', emptyDir: {}},
    ];
    const pod = aPodWith(volumes, {securityContext: {fsGroup: FS_GROUP}});
    const mount = (known: typeof OBJECTS): ReturnType<typeof mountVolumes> =>
      mountVolumes(pod, aHost(node, known), new AbortController().signal);
    const below = (path: string): string => `${rootDir}/pods/u1/volumes/kubernetes.io~${path}`;
    await mount(OBJECTS);
    expect(await ownership(below('secret/s'))).toEqual([FS_GROUP, '3777']);
    expect(await ownership(below('secret/s/..data/.'))).toEqual([FS_GROUP, '2755']);
    expect(await ownership(below('secret/s/..data/password'))).toEqual([FS_GROUP, '440']);
    expect(await ownership(below('configmap/c/..data/a'))).toEqual([FS_GROUP, '644']);
    expect(await ownership(below('configmap/c'))).toEqual([FS_GROUP, '2777']);
    expect(await ownership(below('empty-dir/e'))).toEqual([FS_GROUP, '2777']);
    await mount(objects(aConfigMap({a: '1'}), aSecret({password: 'new'})));
    expect(await ownership(below('secret/s/..data/password'))).toEqual([FS_GROUP, '440']);
    expect(await ownership(below('secret/s/..data/.'))).toEqual([FS_GROUP, '2755']);
  });

  test('all files of the volume get the group and its permissions', async () => {
    const volume = await temporaryDirectory();
    await mkdir(join(volume, 'a/b'), {recursive: true, mode: 0o700});
    await writeFile(join(volume, 'a/b/file'), '', {mode: 0o600});
    execFileSync('mkfifo', ['-m', '600', join(volume, 'pipe')]);
    await setVolumeOwnership(volume, {fsGroup: FS_GROUP, readOnly: false});
    expect(await ownership(volume)).toEqual([FS_GROUP, '2770']);
    expect(await ownership(join(volume, 'a/b'))).toEqual([FS_GROUP, '2770']);
    expect(await ownership(join(volume, 'a/b/file'))).toEqual([FS_GROUP, '660']);
    expect(await ownership(join(volume, 'pipe'))).toEqual([FS_GROUP, '660']);
  });

  test('the group of symbolic links is changed, but not of their targets', async () => {
    const volume = await temporaryDirectory();
    const outside = await temporaryDirectory();
    await writeFile(join(outside, 'file'), '', {mode: 0o600});
    await symlink(join(outside, 'file'), join(volume, 'file'));
    await symlink(outside, join(volume, 'directory'));
    await symlink('nowhere', join(volume, 'dangling'));
    await setVolumeOwnership(volume, {fsGroup: FS_GROUP, readOnly: false});
    expect(await ownership(join(outside, 'file'))).toEqual([0, '600']);
    expect((await ownership(outside))[0]).toBe(0);
    expect((await ownership(join(volume, 'directory')))[0]).toBe(FS_GROUP);
    expect((await ownership(join(volume, 'dangling')))[0]).toBe(FS_GROUP);
  });

  test('a volume that is a symbolic link is not followed', async () => {
    const outside = await temporaryDirectory();
    const volume = join(await temporaryDirectory(), 'volume');
    await symlink(outside, volume);
    await setVolumeOwnership(volume, {fsGroup: FS_GROUP, readOnly: false});
    expect((await ownership(outside))[0]).toBe(0);
  });

  test('mounts in the volume are skipped', async () => {
    const volume = await temporaryDirectory();
    const outside = await temporaryDirectory();
    onTestFinished(() => unmountBelow(volume));
    await writeFile(join(outside, 'file'), '', {mode: 0o600});
    await mkdir(join(volume, 'mount'));
    execFileSync('mount', ['--bind', outside, join(volume, 'mount')]);
    await setVolumeOwnership(volume, {fsGroup: FS_GROUP, readOnly: false});
    expect(await ownership(join(outside, 'file'))).toEqual([0, '600']);
    expect((await ownership(volume))[0]).toBe(FS_GROUP);
  });

  // As in a kubelet, which only logs this.
  test('files that cannot be changed are left as they are', async () => {
    const volume = await temporaryDirectory();
    onTestFinished(() => unmountBelow(volume));
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', volume]);
    await writeFile(join(volume, 'file'), '', {mode: 0o600});
    execFileSync('mount', ['-o', 'remount,ro', volume]);
    await setVolumeOwnership(volume, {fsGroup: FS_GROUP, readOnly: false});
    expect(await ownership(join(volume, 'file'))).toEqual([0, '600']);
  });

  test('file names that are not UTF-8 are supported', async () => {
    const volume = await temporaryDirectory();
    const path = Buffer.concat([Buffer.from(`${volume}/`), Buffer.from([0xff, 0xfe])]);
    await writeFile(path, '');
    await link(path, join(volume, 'same'));
    await setVolumeOwnership(volume, {fsGroup: FS_GROUP, readOnly: true});
    expect((await lstat(path)).gid).toBe(FS_GROUP);
  });
});
