import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {realpath} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {hasErrno, rethrowUnexpected, SystemError, unlessRoot} from '../../../base/errors.js';
import {ifPresent, withFileErrors} from '../../../base/fs/files.js';
import {parseMountInfo, type MountPoint} from '../../../base/fs/mount-info.js';
import {shellQuote} from '../../../base/shell-quote.js';
import {runMountCommand} from './mount-command.js';
import type {MountPropagationMode} from '../../../api/types/v1-pod.js';

/** Filesystems of volumes. */
export type VolumeFileSystem = 'tmpfs' | 'hugetlbfs';

/** Propagation of mounts between a bind mount and its source (mount_namespaces(7)). */
export type BindPropagation = 'private' | 'slave' | 'shared';

/** Lists and changes the mounts of the node (mount.Interface). Methods reject with SystemError. */
export interface Mounter {
  /** Returns all mounts in the kernel's order, later mounts last. */
  list(): Promise<readonly MountPoint[]>;
  /** Mounts a filesystem; `options` are those of `mount -o`. */
  mount(fileSystem: VolumeFileSystem, path: string, options: string): Promise<void>;
  /**
   * Mounts `server:path` of an NFS server with mount.nfs(8). Rejects with the kubelet's message, and with the signal's reason, when
   * the program has ended.
   */
  mountNfs(source: string, path: string, options: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Mounts the filesystem of a block device; rejects with the kubelet's message. */
  mountDevice(device: string, path: string, fileSystem: string, options: readonly string[]): Promise<void>;
  /** Adds options such as `ro` to a bind mount. */
  remountBind(path: string, options: readonly string[]): Promise<void>;
  /** Bind-mounts the open file `fd` of this process at the path, without mounts below it. */
  bind(fd: number, path: string, propagation: BindPropagation): Promise<void>;
  /** Bind-mounts a directory on itself, including the mounts below it. */
  bindToItself(path: string): Promise<void>;
  /** Makes the mount and those below it shared. */
  makeShared(path: string): Promise<void>;
  /** Makes the mount and those below it private. */
  makePrivate(path: string): Promise<void>;
  /** Detaches the mount and all mounts below it lazily, even if they are in use. */
  detach(path: string): Promise<void>;
  /** Unmounts the topmost mount at the path. */
  unmount(path: string): Promise<void>;
}

/**
 * Returns the propagation of a bind mount that containers use with these modes. Without mount propagation it is private,
 * because unmounting a shared mount also unmounts its peers.
 */
export function bindPropagation(modes: readonly MountPropagationMode[]): BindPropagation {
  if (modes.includes('Bidirectional')) return 'shared';
  return modes.includes('HostToContainer') ? 'slave' : 'private';
}

/** Device names by filesystem, as in the kubelet. */
const DEVICES = {tmpfs: 'tmpfs', hugetlbfs: 'nodev'} as const satisfies Record<VolumeFileSystem, string>;

const MOUNT_INFO = '/proc/self/mountinfo';

/** Mounter that runs mount(8) and umount(8). */
export const systemMounter: Mounter = {
  list: async () =>
    await withFileErrors('reading', MOUNT_INFO, () =>
      // The kernel returns at most a page per call, so a hundred pods take many calls, none of which waits.
      Promise.resolve(parseMountInfo(readFileSync(MOUNT_INFO, 'utf8'))),
    ),
  mount: async (fileSystem, path, options) => {
    await run(`mounting a ${fileSystem} at`, path, [
      ...['mount', '-t', fileSystem, '-o', options],
      ...['--', DEVICES[fileSystem], path],
    ]);
  },
  mountNfs: async (source, path, options, signal) => {
    const args = ['-t', 'nfs', ...optionArgs(options), source, path];
    await runMountCommand(args, {toHint: nfsHint, signal});
  },
  mountDevice: async (device, path, fileSystem, options) => {
    const args = ['-t', fileSystem, ...optionArgs(options), device, path];
    await runMountCommand(args, {toHint: (output) => hintFor(output, path)});
  },
  remountBind: async (path, options) => {
    const all = ['remount', 'bind', ...options].join(',');
    await run('setting mount options at', path, ['mount', '--no-canonicalize', '-o', all, '--', path]);
  },
  bind: async (fd, path, propagation) => {
    const change = propagation === 'shared' ? [] : [`--make-${propagation}`];
    // Without --no-canonicalize mount(8) would resolve the path again.
    const options = ['--no-canonicalize', '--bind', ...change];
    await run('mounting at', path, ['mount', ...options, '--', `/proc/${process.pid}/fd/${fd}`, path]);
  },
  bindToItself: async (path) => {
    await run('mounting at', path, ['mount', '--no-canonicalize', '--rbind', '--', path, path]);
  },
  makeShared: async (path) => {
    await run('sharing the mount at', path, ['mount', '--make-rshared', '--', path]);
  },
  makePrivate: async (path) => {
    await run('making the mount private at', path, ['mount', '--make-rprivate', '--', path]);
  },
  detach: async (path) => {
    await run('detaching', path, ['umount', '--lazy', '--', path]);
  },
  unmount: async (path) => {
    try {
      await run('unmounting', path, ['umount', '--', path], UNMOUNT_TIMEOUT_MS);
    } catch (error) {
      if (!(error instanceof Error && wasKilled(error.cause))) throw error;
      // The server of the file system does not answer.
      await run('unmounting', path, ['umount', '-f', '--', path]);
    }
  },
};

/** Time after which umount(8) is ended and a forced unmount is tried, in ms (unMountTimeout of the NFS plugin). */
const UNMOUNT_TIMEOUT_MS = 60_000;

/** Reports whether execFile has ended the program because of its time limit. */
function wasKilled(error: unknown): boolean {
  return error instanceof Error && 'killed' in error && error.killed === true;
}

const execute = promisify(execFile);

async function run(
  doing: string,
  path: string,
  [program = '', ...args]: readonly string[],
  timeoutMs = 0,
): Promise<void> {
  try {
    await execute(program, args, {env: {...process.env, LC_ALL: 'C'}, timeout: timeoutMs});
  } catch (cause) {
    rethrowUnexpected(cause);
    const missing = hasErrno(cause, 'ENOENT');
    const reason = missing ? `${program}(8) is not installed` : parseStderr(cause);
    throw new SystemError(`${doing} ${JSON.stringify(path)}: ${reason}`, {
      cause,
      hint: missing ? `install the package that contains ${program}` : hintFor(reason, path),
    });
  }
}

/** Returns what an NFS mount needs that the output says is missing. */
function nfsHint(output: string): string | undefined {
  if (/unknown filesystem type|No such device|not supported by kernel/i.test(output))
    return 'the kernel has no NFS client, or mount.nfs(8) is missing: load the module "nfs", and install nfs-common (Debian) or nfs-utils (RHEL)';
  return /bad option|helper program/.test(output)
    ? 'mount.nfs(8) is missing: install nfs-common (Debian) or nfs-utils (RHEL)'
    : undefined;
}

function optionArgs(options: readonly string[]): readonly string[] {
  return options.length === 0 ? [] : ['-o', options.join(',')];
}

/** Returns the message of the program, such as `umount: /x: target is busy.`, without program, path and period. */
function parseStderr(cause: unknown): string {
  const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
  const [first = ''] = stderr.trim().split('\n');
  return first.replace(/^u?mount: (?:\/.*: )?/, '').replace(/\.$/, '') || 'failed without a message';
}

function hintFor(reason: string, path: string): string | undefined {
  if (reason.includes('busy')) return `list the processes that use it with: fuser -vm ${shellQuote(path)}`;
  if (!/permission denied|superuser/.test(reason)) return undefined;
  return unlessRoot(
    'run as root',
    'the container or security module that this process runs in may forbid mounts',
  );
}

/**
 * Returns the mounts at or below a directory, given by its real path, in the order to unmount them: a mount comes
 * before the mount that contains it and before the one it hides.
 */
export function unmountOrder(mounts: readonly MountPoint[], directory: string): readonly MountPoint[] {
  const below = mounts.filter(({path}) => path === directory || path.startsWith(`${directory}/`));
  const ids = new Set(below.map(({id}) => id));
  const latestFirst = below.toReversed();
  const withChildren = (mount: MountPoint): readonly MountPoint[] => [
    ...latestFirst.filter(({parentId, id}) => parentId === mount.id && id !== mount.id).flatMap(withChildren),
    mount,
  ];
  return latestFirst.filter(({parentId}) => !ids.has(parentId)).flatMap(withChildren);
}

/** Returns the mounts at or below a directory in the order to unmount them, each with its relative path. */
export async function listMountsBelow(
  directory: string,
  mounter: Mounter,
): Promise<readonly {readonly mount: MountPoint; readonly below: string}[]> {
  const target = await realDirectory(directory);
  if (target === undefined) return [];
  return unmountOrder(await mounter.list(), target).map((mount) => ({
    mount,
    below: mount.path.slice(target.length + 1),
  }));
}

/**
 * Reports whether kcri created a mount; `below` is its path relative to the directory, empty for the directory itself.
 */
export type IsOwnMount = (mount: MountPoint, below: string) => boolean;

/**
 * Unmounts everything at or below a directory, if it exists. Nothing is unmounted if any mount is not kcri's own,
 * because it may be the only access to its files. Rejects with SystemError.
 */
export async function unmountBelow(
  directory: string,
  mounter: Mounter = systemMounter,
  isOwn: IsOwnMount = () => true,
): Promise<void> {
  let last: number | undefined;
  for (;;) {
    const mounts = await listOwnMounts(directory, mounter, isOwn);
    const next = mounts[0]?.mount;
    if (next === undefined) return;
    if (next.id === last)
      throw new SystemError(`${JSON.stringify(next.path)} is still mounted after it was unmounted`);
    await mounter.unmount(next.path);
    last = next.id;
  }
}

/** Returns the mounts like listMountsBelow. Rejects with SystemError if one of them is not kcri's own. */
export async function listOwnMounts(
  directory: string,
  mounter: Mounter,
  isOwn: IsOwnMount,
): ReturnType<typeof listMountsBelow> {
  const mounts = await listMountsBelow(directory, mounter);
  const unowned = mounts.find(({mount, below}) => !isOwn(mount, below));
  if (unowned !== undefined) throw unownedMountError(unowned.mount, directory);
  return mounts;
}

function unownedMountError({path}: MountPoint, directory: string): SystemError {
  return new SystemError(
    `cannot remove ${JSON.stringify(directory)}: ${JSON.stringify(path)} is a mount that kcri did not create`,
    {
      hint: `check what it is, unmount it with "umount ${shellQuote(path)}", and try again; nothing was removed`,
    },
  );
}

/** Returns the real path of a directory, by which the kernel lists its mounts. Its last component is not followed. */
export async function realDirectory(directory: string): Promise<string | undefined> {
  const parent = await withFileErrors('resolving', directory, () =>
    ifPresent(() => realpath(dirname(directory))),
  );
  return parent === undefined ? undefined : join(parent, basename(directory));
}

/** Returns the mount that contains an existing directory, and the directory's path relative to it. */
export async function findContainingMount(
  directory: string,
  mounter: Mounter,
): Promise<{readonly mount: MountPoint; readonly below: string}> {
  const target = await withFileErrors('resolving', directory, () => realpath(directory));
  const contains = ({path}: MountPoint): boolean => `${target}/`.startsWith(path === '/' ? path : `${path}/`);
  // If several mounts are at the deepest path, the last one hides the others.
  const [mount] = (await mounter.list())
    .filter(contains)
    .toReversed()
    .toSorted((a, b) => b.path.length - a.path.length);
  if (mount === undefined) throw new SystemError(`cannot find the mount of ${JSON.stringify(directory)}`);
  return {mount, below: target.slice(mount.path.length)};
}

/** Reports whether a filesystem is mounted at exactly this path. */
export async function isMountPoint(path: string, mounter: Mounter): Promise<boolean> {
  return (await findMountAt(path, mounter)) !== undefined;
}

/** Returns the topmost mount at exactly this path. */
export async function findMountAt(path: string, mounter: Mounter): Promise<MountPoint | undefined> {
  const target = await realDirectory(path);
  return (await mounter.list()).findLast((mount) => mount.path === target);
}
