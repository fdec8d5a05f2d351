import {stat} from 'node:fs/promises';
import {onTestFinished} from 'vitest';

/** Returns the permission bits of a file. */
export async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o7777;
}

/** Sets the umask of this process for the rest of the test. */
export function withUmask(mask: number): void {
  const before = process.umask(mask);
  onTestFinished(() => {
    process.umask(before);
  });
}
