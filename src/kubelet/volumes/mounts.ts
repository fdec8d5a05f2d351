import {execFile} from 'node:child_process';
import {readFile, realpath} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {hasErrno, SystemError} from '../../base/errors.js';
import {ifPresent, withFileErrors} from '../../base/files.js';
import {shellWord} from '../../base/shell-word.js';

/** A mount of this process's mount namespace. */
export interface MountPoint {
  readonly id: number;
  /** The mount that this one stands in, or on. */
  readonly parentId: number;
  /** What of its file system it shows: `/` unless it is a bind mount of a part. */
  readonly root: string;
  readonly path: string;
  readonly fileSystem: string;
  /** It came here from a mount elsewhere that this one follows (a slave), which is still there without it. */
  readonly received: boolean;
  /** What is mounted or unmounted below it is so below its peers too, wherever they are. */
  readonly shared: boolean;
}

/** File systems that volumes are made of. */
export type VolumeFileSystem = 'tmpfs' | 'hugetlbfs';

/** Whether mounts below a bind mount appear at its source and the other way round (mount_namespaces(7)). */
export type BindPropagation = 'private' | 'slave' | 'shared';

/** What changes the mounts of the machine. Methods reject with SystemError. */
export interface Mounter {
  /** In the kernel's order: later mounts come later. */
  list(): Promise<readonly MountPoint[]>;
  /** `options` as mount(8) takes them after -o. */
  mount(fileSystem: VolumeFileSystem, path: string, options: string): Promise<void>;
  /** Mounts what is open under `fd` in this process at the path; without what is mounted below it. */
  bind(fd: number, path: string, propagation: BindPropagation): Promise<void>;
  /** Makes a directory a mount of its own, with all that is mounted below it. */
  bindToItself(path: string): Promise<void>;
  /** What is mounted or unmounted below the mount, and those below it, is so below mounts that are made from it. */
  makeShared(path: string): Promise<void>;
  /** What is mounted or unmounted below the mount, and those below it, is its own business from now on. */
  makePrivate(path: string): Promise<void>;
  /** Takes the mount and all that is mounted below it out of the tree at once, whoever still uses it. */
  detach(path: string): Promise<void>;
  /** The topmost of the mounts at the path. */
  unmount(path: string): Promise<void>;
}

/** The names that the kubelet gives them in the list of mounts. */
const DEVICES = {tmpfs: 'tmpfs', hugetlbfs: 'nodev'} as const satisfies Record<VolumeFileSystem, string>;

const MOUNT_INFO = '/proc/self/mountinfo';

/** By mount(8) and umount(8). */
export const systemMounter: Mounter = {
  list: async () =>
    await withFileErrors('reading', MOUNT_INFO, async () =>
      parseMountInfo(await readFile(MOUNT_INFO, 'utf8')),
    ),
  mount: async (fileSystem, path, options) => {
    await run(`mounting a ${fileSystem} at`, path, [
      ...['mount', '-t', fileSystem, '-o', options],
      ...['--', DEVICES[fileSystem], path],
    ]);
  },
  bind: async (fd, path, propagation) => {
    const change = propagation === 'shared' ? [] : [`--make-${propagation}`];
    // Without --no-canonicalize mount(8) would look the names up again.
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
    await run('unmounting', path, ['umount', '--', path]);
  },
};

const execute = promisify(execFile);

async function run(doing: string, path: string, [program = '', ...args]: readonly string[]): Promise<void> {
  try {
    await execute(program, args, {env: {...process.env, LC_ALL: 'C'}});
  } catch (cause) {
    const missing = hasErrno(cause, 'ENOENT');
    const reason = missing ? `there is no ${program}(8)` : programSays(cause);
    throw new SystemError(`${doing} ${JSON.stringify(path)}: ${reason}`, {
      cause,
      hint: missing ? `install the package with ${program}` : hintFor(reason, path),
    });
  }
}

/** `umount: /x: target is busy.` without the program, the path and the period. */
function programSays(cause: unknown): string {
  const stderr = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : '';
  const [first = ''] = stderr.trim().split('\n');
  return first.replace(/^u?mount: (?:\/.*: )?/, '').replace(/\.$/, '') || 'it failed without a word';
}

function hintFor(reason: string, path: string): string | undefined {
  if (reason.includes('busy')) return `something still uses it: fuser -vm ${shellWord(path)} shows what`;
  return /permission denied|superuser/.test(reason) ? 'run as root' : undefined;
}

/** Reads the format of /proc/<pid>/mountinfo (proc_pid_mountinfo(5)). */
export function parseMountInfo(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const [left = '', right = ''] = line.split(' - ', 2);
    const [id, parentId, , root = '', path, , ...optional] = left.split(' ');
    if (path === undefined) return [];
    return {
      id: Number(id),
      parentId: Number(parentId),
      root: unescapePath(root),
      path: unescapePath(path),
      fileSystem: right.split(' ', 1)[0] ?? '',
      received: optional.some((field) => field.startsWith('master:')),
      shared: optional.some((field) => field.startsWith('shared:')),
    };
  });
}

/** The kernel writes spaces, tabs, line ends and backslashes as `\040` and the like. */
function unescapePath(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_escape, digits: string) => String.fromCharCode(parseInt(digits, 8)));
}

/**
 * What is mounted at or below a directory, given by its real path, in the order in which it can be unmounted: what
 * stands in another mount before that one, and what hides another mount before that one.
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

/** The mounts at or below a directory, each with its path below it; none without the directory. */
export async function mountsBelow(
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

/** Whether a mount may be taken down; `below` is its path below the directory, `` for the directory itself. */
export type IsOwnMount = (mount: MountPoint, below: string) => boolean;

/**
 * Unmounts all that is mounted at or below a directory, until the kernel lists nothing there any more. While there is a
 * mount that isn't own nothing is unmounted: it may be the only way to somebody's files. Without the directory it does
 * nothing. Rejects with SystemError when something can't or may not be unmounted.
 */
export async function unmountBelow(
  directory: string,
  mounter: Mounter = systemMounter,
  isOwn: IsOwnMount = () => true,
): Promise<void> {
  let last: number | undefined;
  for (;;) {
    const mounts = await mountsBelow(directory, mounter);
    const foreign = mounts.find(({mount, below}) => !isOwn(mount, below));
    if (foreign !== undefined) throw foreignMount(foreign.mount, directory);
    const next = mounts[0]?.mount;
    if (next === undefined) return;
    if (next.id === last)
      throw new SystemError(`${JSON.stringify(next.path)} is still mounted after it was unmounted`);
    await mounter.unmount(next.path);
    last = next.id;
  }
}

function foreignMount({path}: MountPoint, directory: string): SystemError {
  return new SystemError(
    `${JSON.stringify(directory)} can't be removed: ${JSON.stringify(path)} is mounted there, and not by kcri`,
    {
      hint: `find out whose it is, unmount it with "umount ${shellWord(path)}", and try again; nothing was removed there`,
    },
  );
}

/** The path as the kernel lists mounts at it. The last name isn't followed: a link there is nothing of ours. */
async function realDirectory(directory: string): Promise<string | undefined> {
  const parent = await withFileErrors('resolving', directory, () =>
    ifPresent(() => realpath(dirname(directory))),
  );
  return parent === undefined ? undefined : join(parent, basename(directory));
}

/** The mount that an existing directory is on, and the directory's path below it. */
export async function holdingMount(
  directory: string,
  mounter: Mounter,
): Promise<{readonly mount: MountPoint; readonly below: string}> {
  const target = await withFileErrors('resolving', directory, () => realpath(directory));
  const holds = ({path}: MountPoint): boolean => `${target}/`.startsWith(path === '/' ? path : `${path}/`);
  // Of the deepest ones the last hides the others.
  const [mount] = (await mounter.list())
    .filter(holds)
    .toReversed()
    .toSorted((a, b) => b.path.length - a.path.length);
  if (mount === undefined) throw new SystemError(`${JSON.stringify(directory)} is on no mount`);
  return {mount, below: target.slice(mount.path.length)};
}

/** True when a file system is mounted at exactly this path. */
export async function isMountPoint(path: string, mounter: Mounter): Promise<boolean> {
  const target = await realDirectory(path);
  return (await mounter.list()).some((mount) => mount.path === target);
}
