import {readFileSync} from 'node:fs';
import {removeTree} from '../../base/fs/remove-tree.js';
import {runHostProgram} from '../process/run-host-program.js';

/** An entry of /proc/self/mountinfo. */
export interface Mount {
  readonly path: string;
  readonly fileSystem: string;
}

/** Parses /proc/self/mountinfo (proc(5)); the last line is the newest mount. */
export function parseMountInfo(text: string): Mount[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [mount = '', rest = ''] = line.split(' - ');
      return {path: unescapeOctal(mount.split(' ')[4] ?? ''), fileSystem: rest.split(' ')[0] ?? ''};
    });
}

/** Returns the mounts that this process sees, oldest first. */
export function currentMounts(): Mount[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** Returns the mount points at or below `dir`, newest first: the order to unmount them. */
export function mountsBelow(dir: string, mounts: readonly Mount[]): string[] {
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

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
