import {execFile} from 'node:child_process';
import {mkdtemp, rmdir, statfs} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';

/** A file system of its own, which is easily filled. */
export interface SmallDisk extends AsyncDisposable {
  /** Where it is mounted. */
  readonly path: string;
  /** As a kubelet computes it. */
  usedPercent(): Promise<number>;
}

/** Mounts one of so many MiB on a new temporary directory. Disposing unmounts it. */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const run = promisify(execFile);
  const path = await mkdtemp(join(tmpdir(), 'kcri-disk-'));
  // Pods with users of their own have to come through.
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
