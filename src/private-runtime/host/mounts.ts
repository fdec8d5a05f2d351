import {readFileSync} from 'node:fs';
import {parseMountInfo, type MountPoint} from '../../base/fs/mount-info.js';
import {removeTree} from '../../base/fs/remove-tree.js';
import {runHostProgram} from '../process/run-host-program.js';

/** Returns the mounts that this process sees, oldest first. */
export function currentMounts(): readonly MountPoint[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** Returns the mount points at or below `dir`, newest first: the order to unmount them. */
export function mountsBelow(dir: string, mounts: readonly MountPoint[]): string[] {
  return mounts
    .map(({path}) => path)
    .filter((path) => path === dir || path.startsWith(`${dir}/`))
    .reverse();
}

/** Unmounts everything at or below `dir`; mounts in use are detached and disappear with their last user. */
export async function unmountBelow(dir: string): Promise<void> {
  for (const path of mountsBelow(dir, currentMounts())) {
    await runHostProgram('umount', [path]).catch(() => runHostProgram('umount', ['--lazy', path]));
  }
}

/**
 * Unmounts everything in a directory and removes it. Rejects with SystemError if something stays mounted; never deletes
 * through a mount.
 */
export async function unmountAndRemove(dir: string): Promise<void> {
  await unmountBelow(dir);
  await removeTree(dir);
}
