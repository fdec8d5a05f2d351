import {readFileSync} from 'node:fs';
import {removeTree} from '../base/remove-tree.js';
import {runProgram} from './run-program.js';

/** One line of /proc/self/mountinfo. */
export interface Mount {
  readonly path: string;
  readonly fileSystem: string;
}

/** Reads /proc/self/mountinfo (proc(5)); the last line was mounted last. */
export function parseMountInfo(text: string): Mount[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [mount = '', rest = ''] = line.split(' - ');
      return {path: unescapeOctal(mount.split(' ')[4] ?? ''), fileSystem: rest.split(' ')[0] ?? ''};
    });
}

/** The mounts that this process sees, in the order they were made. */
export function currentMounts(): Mount[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** Where something is mounted at `dir` or below, the last one first: the order to unmount in. */
export function mountsBelow(dir: string, mounts: readonly Mount[]): string[] {
  return mounts
    .map(({path}) => path)
    .filter((path) => path === dir || path.startsWith(`${dir}/`))
    .reverse();
}

/** Unmounts everything at `dir` and below; what is still in use is detached and goes with its last user. */
export async function unmountBelow(dir: string): Promise<void> {
  for (const path of mountsBelow(dir, currentMounts())) {
    await runProgram('umount', [path]).catch(() => runProgram('umount', ['--lazy', path]));
  }
}

/** Unmounts all in a directory and removes it; throws SystemError, and deletes nothing through a mount, when something stays mounted. */
export async function unmountAndRemove(dir: string): Promise<void> {
  await unmountBelow(dir);
  await removeTree(dir);
}

function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
