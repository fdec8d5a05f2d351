import {realpath} from 'node:fs/promises';
import {resolve} from 'node:path';
import {ifPresent, withFileErrors} from '../base/fs/files.js';
import {makeDirectoryPath} from '../base/fs/make-directory-path.js';

/**
 * Returns the directory without symbolic links, as /proc shows it; unchanged if it does not exist. Throws SystemError.
 */
export async function canonicalDirectory(dir: string): Promise<string> {
  const found = await withFileErrors('reading', dir, () => ifPresent(() => realpath(dir)));
  return found ?? resolve(dir);
}

/** Creates the directory if it does not exist; `made` reports whether it did. Rejects with SystemError. */
export async function ensureRootDir(dir: string): Promise<{rootDir: string; made: boolean}> {
  const made = await makeDirectoryPath(dir, 0o755);
  return {rootDir: await realpath(dir), made};
}
