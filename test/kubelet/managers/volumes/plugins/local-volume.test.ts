import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, readdir, readFile, realpath, rename, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PersistentVolumeSpec} from '../../../../../src/api/types/v1-persistent-volumes.js';
import type {RunTool} from '../../../../../src/kubelet/managers/volumes/devices/disk-tools.js';
import {withDeviceLock} from '../../../../../src/kubelet/managers/volumes/devices/device-mounts.js';
import {systemMounter, type Mounter} from '../../../../../src/kubelet/managers/volumes/mounter.js';
import {removePodDir, removePodVolumes} from '../../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import type {VolumeHost} from '../../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {mountVolumes} from '../../../../../src/kubelet/managers/volumes/volume-manager.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aClaimPod, aNode, claims} from '../claim-fixtures.js';
import {aHost} from '../volume-fixtures.js';

const {signal} = new AbortController();

/** A host with a block device, whose filesystem is a tmpfs. */
interface DeviceTestbed {
  readonly host: VolumeHost;
  readonly device: string;
  /** Place of the mount for all pods. */
  readonly global: string;
  /** Mounts of the device, as `source options`, and formats. */
  readonly calls: string[];
  readonly events: string[];
  podPath(uid: string): string;
  /** Returns the mounts of the root directory, relative to it. */
  mounts(): Promise<readonly string[]>;
}

interface DeviceOptions {
  readonly source?: Partial<NonNullable<PersistentVolumeSpec['local']>>;
  readonly spec?: Partial<PersistentVolumeSpec>;
  readonly readOnly?: boolean;
  readonly runTool?: RunTool;
  readonly mounter?: Partial<Mounter>;
}

const FORMATTED: RunTool = async (program) => ({
  exitCode: 0,
  output: program === 'blkid' ? 'TYPE=ext4\n' : '',
});

/** Creates a block device without a driver, which only the faked tools can use. */
function makeDevice(path: string, minor: string): string {
  execFileSync('mknod', [path, 'b', '241', minor]);
  return path;
}

async function aDevice(options: DeviceOptions = {}): Promise<DeviceTestbed> {
  const node = await aNode();
  const directory = await realpath(await temporaryDirectory());
  const device = makeDevice(join(directory, 'device'), '7');
  const calls: string[] = [];
  const events: string[] = [];
  const mounter: Mounter = {
    ...systemMounter,
    mountDevice: async (source, path, type, mountOptions) => {
      calls.push(`${type} ${mountOptions.join(',')} ${source === device ? 'DEV' : source}`);
      const flags = mountOptions.includes('ro') ? ['-r'] : [];
      execFileSync('mount', ['-t', 'tmpfs', ...flags, source, path]);
    },
    ...options.mounter,
  };
  const spec = {local: {path: device, ...options.source}, ...options.spec};
  const host: VolumeHost = {
    ...aHost(node, claims(spec, options.readOnly)),
    mounter,
    runTool: options.runTool ?? FORMATTED,
    events: ({type, reason, message}) => void events.push(`${type} ${reason}: ${message}`),
  };
  return {
    ...{host, device, calls, events},
    global: join(node.rootDir, 'plugins/kubernetes.io/local-volume/mounts/pv'),
    podPath: (uid) => join(node.rootDir, 'pods', uid, 'volumes/kubernetes.io~local-volume/pv'),
    mounts: async () => {
      const root = await realpath(node.rootDir);
      return (await systemMounter.list())
        .filter(({path}) => path.startsWith(`${root}/`))
        .map(({path}) => path.slice(root.length + 1));
    },
  };
}

const mountFor = async ({host}: DeviceTestbed, uid: string, fsGroup?: number): Promise<string> => {
  const spec = fsGroup === undefined ? {} : {securityContext: {fsGroup}};
  const {volumes} = await mountVolumes(aClaimPod(spec, uid), host, signal);
  return volumes.get('v')?.hostPath ?? '';
};

const GLOBAL = 'plugins/kubernetes.io/local-volume/mounts/pv';
const podMount = (uid: string): string => `pods/${uid}/volumes/kubernetes.io~local-volume/pv`;

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('a local volume on a block device (needs root)', () => {
  test('is mounted once for all pods and bound for each, and unmounted after the last one', async () => {
    const testbed = await aDevice();
    const {host, calls, global} = testbed;
    const path = await mountFor(testbed, 'u1');
    expect(path).toBe(testbed.podPath('u1'));
    await writeFile(join(path, 'file'), 'shared');
    await mountFor(testbed, 'u1');
    expect(await readFile(join(await mountFor(testbed, 'u2'), 'file'), 'utf8')).toBe('shared');
    expect(calls).toEqual(['ext4 defaults DEV']);
    expect(await testbed.mounts()).toEqual([GLOBAL, podMount('u1'), podMount('u2')]);

    await removePodDir(host.node, 'u1');
    expect(await testbed.mounts()).toEqual([GLOBAL, podMount('u2')]);
    await removePodVolumes(host.node, 'u2');
    expect(await testbed.mounts()).toEqual([]);
    expect(existsSync(global)).toBe(false);
  });

  test('is mounted once for pods that start at once, and unmounted when all are removed at once', async () => {
    const testbed = await aDevice();
    const uids = ['u1', 'u2', 'u3', 'u4'];
    await Promise.all(uids.map(async (uid) => await mountFor(testbed, uid)));
    expect(testbed.calls).toHaveLength(1);
    await Promise.all(uids.map((uid) => removePodDir(testbed.host.node, uid)));
    expect(await testbed.mounts()).toEqual([]);
  });

  test('waits while another process works on the device, until its pod is deleted', async () => {
    const testbed = await aDevice();
    const {host} = testbed;
    const end = new AbortController();
    await withDeviceLock(host.node, 'pv', undefined, async () => {
      const mounting = expect(mountVolumes(aClaimPod(), host, end.signal)).rejects.toThrow('deleted');
      end.abort(new Error('deleted'));
      await mounting;
    });
    expect(testbed.calls).toEqual([]);
  });

  test('has the type and the options of the PersistentVolume, also read-only', async () => {
    const testbed = await aDevice({
      source: {fsType: 'xfs'},
      spec: {mountOptions: ['nosuid', 'noatime']},
      readOnly: true,
    });
    const path = await mountFor(testbed, 'u1');
    expect(testbed.calls).toEqual(['xfs noatime,nosuid,ro,defaults DEV']);
    await expect(writeFile(join(path, 'file'), '')).rejects.toThrow('EROFS');
  });

  test('gets the group of its first pod, and warns another one', async () => {
    const testbed = await aDevice();
    const path = await mountFor(testbed, 'u1', 2000);
    expect(await stat(path)).toMatchObject({gid: 2000});
    await mountFor(testbed, 'u2', 3000);
    expect((await stat(path)).gid).toBe(2000);
    expect(testbed.events).toEqual([
      'Warning AlreadyMountedVolume: The requested fsGroup is 3000, but the volume pv has GID 2000. The volume may not be shareable.',
    ]);
  });

  test('is found by the real path of a link, which may change later', async () => {
    const link = join(await temporaryDirectory(), 'by-id');
    const tools: string[] = [];
    const testbed = await aDevice({
      source: {path: link},
      runTool: async (program, args, options) => {
        tools.push(`${program} ${args.at(-1)}`);
        await rename(`${link}-other`, link).catch(() => undefined);
        return await FORMATTED(program, args, options);
      },
    });
    await symlink(testbed.device, link);
    await symlink('/dev/null', `${link}-other`);
    await mountFor(testbed, 'u1');
    expect(tools).toEqual([`blkid ${testbed.device}`, `fsck ${testbed.device}`]);
    expect(testbed.calls).toEqual(['ext4 defaults DEV']);
  });

  test('leaves nothing behind if it cannot be mounted, with the message of a kubelet', async () => {
    const testbed = await aDevice({
      runTool: async () => ({exitCode: 8, output: ''}),
    });
    const {global, device} = testbed;
    await expect(mountFor(testbed, 'u1')).rejects.toMatchObject({
      message: `MountVolume.MountDevice failed for volume "pv" : local: failed to mount device ${device} at ${global} (fstype: ext4), error failed to get disk format of disk ${device}: exit status 8`,
      hint: expect.stringContaining('wipefs') as string,
    });
    expect(await testbed.mounts()).toEqual([]);
    expect(existsSync(global)).toBe(false);
  });

  test('is unmounted again if it cannot be bound for the only pod', async () => {
    const bind = async (): Promise<void> => Promise.reject(new Error('no bind'));
    const testbed = await aDevice({mounter: {bind}});
    await expect(mountFor(testbed, 'u1')).rejects.toThrow('no bind');
    expect(testbed.calls).toHaveLength(1);
    expect(await testbed.mounts()).toEqual([]);
  });

  test('has a type that is a file name, since it is a part of the name of a program', async () => {
    const tools: string[] = [];
    const testbed = await aDevice({
      source: {fsType: '../../tmp/evil'},
      runTool: async (program) => {
        tools.push(program);
        return {exitCode: 2, output: ''};
      },
    });
    await expect(mountFor(testbed, 'u1')).rejects.toThrow(
      'error the file system type "../../tmp/evil" cannot be a file name',
    );
    expect(tools).toEqual([]);
  });

  test('is released by the removal of a pod whose start was killed after the mount', async () => {
    const killed: Partial<Mounter> = {
      mountDevice: async (source, path) => {
        execFileSync('mount', ['-t', 'tmpfs', source, path]);
        throw new Error('killed');
      },
      unmount: async () => undefined,
    };
    const testbed = await aDevice({mounter: killed});
    await expect(mountFor(testbed, 'u1')).rejects.toThrow();
    expect(await testbed.mounts()).toEqual([GLOBAL]);
    await removePodDir(testbed.host.node, 'u1');
    expect(await testbed.mounts()).toEqual([]);
  });

  test('stays mounted with the files of a mount below it that kcri did not create', async () => {
    const testbed = await aDevice();
    const {host, global} = testbed;
    await mountFor(testbed, 'u1');
    const foreign = join(global, 'foreign');
    await mkdir(foreign);
    execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', foreign]);
    await expect(removePodDir(host.node, 'u1')).rejects.toThrow('is a mount that kcri did not create');
    expect(await testbed.mounts()).toEqual([GLOBAL, `${GLOBAL}/foreign`]);
    execFileSync('umount', [foreign]);
    await removePodDir(host.node, 'u1');
    expect(await testbed.mounts()).toEqual([]);
  });

  test('leaves files alone that were put at the place of its mount', async () => {
    const testbed = await aDevice();
    const {host, global} = testbed;
    await mkdir(global, {recursive: true});
    await writeFile(join(global, 'precious'), '');
    await mountFor(testbed, 'u1');
    await removePodDir(host.node, 'u1');
    expect(await readdir(global)).toEqual(['precious']);
  });

  test('of another device under the same name is refused while a pod uses the old one', async () => {
    const testbed = await aDevice();
    const {host, device, global} = testbed;
    await mountFor(testbed, 'u1');
    const other = makeDevice(`${device}2`, '8');
    const changed = {...testbed, host: {...host, objects: claims({local: {path: other}})}};
    await expect(mountFor(changed, 'u2')).rejects.toMatchObject({
      message: expect.stringContaining(
        `error "${global}" is the mount of another device, ${device}`,
      ) as string,
      hint: `delete the pods that use it, or unmount it with: umount ${global}`,
    });
    await removePodDir(host.node, 'u1');
    await mountFor(changed, 'u2');
    expect(testbed.calls).toEqual(['ext4 defaults DEV', `ext4 defaults ${other}`]);
  });

  test('is shared by pods of a root directory that is a link', async () => {
    const testbed = await aDevice();
    const {host} = testbed;
    const link = join(await temporaryDirectory(), 'root');
    await mkdir(host.node.rootDir, {recursive: true});
    await symlink(host.node.rootDir, link);
    const linked = {...testbed, host: {...host, node: {...host.node, rootDir: link}}};
    await mountFor(linked, 'u1');
    await mountFor(linked, 'u2');
    await removePodDir({rootDir: link}, 'u1');
    expect(await testbed.mounts()).toEqual([GLOBAL, podMount('u2')]);
    expect(testbed.calls).toHaveLength(1);
    await removePodDir({rootDir: link}, 'u2');
    expect(await testbed.mounts()).toEqual([]);
  });
});
