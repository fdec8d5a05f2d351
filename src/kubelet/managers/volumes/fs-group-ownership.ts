import {constants, type Stats} from 'node:fs';
import {chmod, chown, open, readdir, type FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {isSystemCallError} from '../../../base/errors.js';
import {fdPath, mountIdOf, O_PATH} from '../../../base/fs/file-handles.js';
import {ifPresent, withFile, withFileErrors} from '../../../base/fs/files.js';

/** Opens a file of any type; a link is not followed. */
const OPEN_PATH = O_PATH | constants.O_NOFOLLOW;

const READ_WRITE = 0o660;
const READ_ONLY = 0o440;
/** Setgid and search permission: new files inherit the group. */
const DIRECTORY = 0o2110;

/** Ownership of a volume. */
export interface VolumeOwnership {
  /** The pod's fsGroup; undefined to change nothing. */
  readonly fsGroup: number | undefined;
  /** True if the group gets no write permission. */
  readonly readOnly: boolean;
  /** True to change nothing if the root of the volume has the right group and permissions; false by default. */
  readonly onlyOnRootMismatch?: boolean;
}

/** Returns the permission bits of a file in a volume with an fsGroup (volume_linux.go changeFilePermission). */
export function groupMode(mode: number, isDirectory: boolean, readOnly: boolean): number {
  return (mode & 0o7777) | (readOnly ? READ_ONLY : READ_WRITE) | (isDirectory ? DIRECTORY : 0);
}

/**
 * Changes the group of a volume and everything in it to the pod's fsGroup (SetVolumeOwnership), the root last. Symbolic
 * links are changed, not followed; mounts in the volume are skipped. Rejects with SystemError.
 */
export async function setVolumeOwnership(path: string, ownership: VolumeOwnership): Promise<void> {
  const {fsGroup, readOnly, onlyOnRootMismatch = false} = ownership;
  if (fsGroup === undefined) return;
  await withFileErrors('changing the group of', path, () =>
    withFile(path, OPEN_PATH, 0, async (root) => {
      if (onlyOnRootMismatch && hasOwnership(await root.stat(), fsGroup, readOnly)) return;
      await changeBelow(root, path, {fsGroup, readOnly, mountId: mountIdOf(root)});
    }),
  );
}

/** Reports whether a file has the group and at least the permissions (requiresPermissionChange). */
function hasOwnership(stats: Stats, fsGroup: number, readOnly: boolean): boolean {
  const permissions = stats.mode & 0o7777;
  return stats.gid === fsGroup && groupMode(permissions, stats.isDirectory(), readOnly) === permissions;
}

interface Change {
  readonly fsGroup: number;
  readonly readOnly: boolean;
  /** ID of the volume's mount. */
  readonly mountId: string;
}

/** Changes a file or directory with its content. `shown` is its path for error messages. */
async function changeBelow(item: FileHandle, shown: string, change: Change): Promise<void> {
  const stats = await item.stat();
  if (stats.isDirectory()) {
    const base = fdPath(item);
    for (const name of await withFileErrors('reading', shown, () => readdir(base, {encoding: 'buffer'})))
      await changeEntry(Buffer.concat([Buffer.from(`${base}/`), name]), join(shown, name.toString()), change);
  }
  await changeOne(item, stats, change);
}

async function changeEntry(path: Buffer, shown: string, change: Change): Promise<void> {
  const item = await withFileErrors('opening', shown, () => ifPresent(() => open(path, OPEN_PATH)));
  if (item === undefined) return;
  try {
    if (mountIdOf(item) === change.mountId) await changeBelow(item, shown, change);
  } finally {
    await item.close();
  }
}

/**
 * Changes an open file, because its path may refer to another file by now. A file that cannot be changed is left as it is,
 * as in a kubelet (changeFilePermission): the file system may have no owners, or be read-only.
 */
async function changeOne(item: FileHandle, stats: Stats, {fsGroup, readOnly}: Change): Promise<void> {
  const mode = groupMode(stats.mode, stats.isDirectory(), readOnly);
  await ignoreSystemErrors(() => chown(fdPath(item), -1, fsGroup));
  if (!stats.isSymbolicLink()) await ignoreSystemErrors(() => chmod(fdPath(item), mode));
}

async function ignoreSystemErrors(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!isSystemCallError(error)) throw error;
  }
}
