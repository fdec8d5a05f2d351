import {mkdir, realpath} from 'node:fs/promises';
import {resolve} from 'node:path';
import {ifPresent, withFileErrors} from '../base/files.js';

/** The directory without symbolic links, as /proc names it; as it is given when it isn't there. Throws SystemError. */
export async function canonical(dir: string): Promise<string> {
  const found = await withFileErrors('reading', dir, () => ifPresent(() => realpath(dir)));
  return found ?? resolve(dir);
}

/** Makes the directory when it isn't there. `made` says so. Throws SystemError. */
export async function ensureRootDir(dir: string): Promise<{rootDir: string; made: boolean}> {
  const first = await withFileErrors('making the directory', dir, () =>
    mkdir(dir, {recursive: true, mode: 0o755}),
  );
  return {rootDir: await realpath(dir), made: first !== undefined};
}
