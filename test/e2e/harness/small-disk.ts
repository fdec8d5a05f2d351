import {execFile} from 'node:child_process';
import {mkdtemp, rmdir, statfs} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';

/** A separate small filesystem, which is easy to fill. */
export interface SmallDisk extends AsyncDisposable {
  /** Mount point. */
  readonly path: string;
  /** Returns the disk usage in percent as a kubelet computes it. */
  usedPercent(): Promise<number>;
}

/** Mounts a filesystem of this size on a new temporary directory. Disposing unmounts it. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const run = promisify(execFile);
  const path = await mkdtemp(join(tmpdir(), 'kcri-disk-'));
  // Pods with their own user namespace must be able to enter the directory.
  await run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755`, 'kcri-e2e-disk', path]);
  return {
    path,
    usedPercent: async () => {
      const {blocks, bavail} = await statfs(path);
      return 100 - Math.trunc((bavail * 100) / blocks);
    },
    [Symbol.asyncDispose]: async () => {
      await run('umount', [path]);
      await rmdir(path);
    },
  };
}
