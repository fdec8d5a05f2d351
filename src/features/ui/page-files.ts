import {readdir, readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {hasErrno, SystemError} from '../../base/errors.js';

/** Build of the page; in the bundle and the executable, this module has the files themselves (scripts/bundle/replacements.mjs). */
const FOLDER = new URL('../../../dist/ui/', import.meta.url);

/** Returns the files of the page, compressed with gzip, by name. Rejects with SystemError if the page is not built. */
export async function readPageFiles(): Promise<ReadonlyMap<string, Buffer>> {
  try {
    const names = await readdir(FOLDER);
    const files = names.map(async (name) => [name, gzipSync(await readFile(new URL(name, FOLDER)))] as const);
    return new Map(await Promise.all(files));
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
    throw new SystemError(`the page of kcri ui is missing in "${fileURLToPath(FOLDER)}"`, {
      cause: error,
      hint: 'build it with "npm run build"',
    });
  }
}
