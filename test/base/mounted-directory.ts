import {execFileSync} from 'node:child_process';
import {onTestFinished} from 'vitest';
import {temporaryDirectory} from './temporary-directory.js';

/** Mounts a new file system until the end of the test; requires root. Resolves with its directory. */
export async function mountedDirectory(): Promise<string> {
  const path = await temporaryDirectory();
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', path]);
  onTestFinished(() => {
    execFileSync('umount', [path]);
  });
  return path;
}
