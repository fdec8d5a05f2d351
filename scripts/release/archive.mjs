import {spawn} from 'node:child_process';
import {createWriteStream} from 'node:fs';
import {readdir} from 'node:fs/promises';
import {once} from 'node:events';
import {join, relative} from 'node:path';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';

/**
 * Writes a .tar.gz of the files of a directory. Equal files give equal bytes: names are sorted, and owners and times
 * fixed. Directories are not included, so that extracting does not change existing ones.
 *
 * @param {string} folder
 * @param {string} file
 * @param {number} time seconds since the epoch
 */
export async function writeArchive(folder, file, time) {
  const names = await filesBelow(folder);
  const options = [
    '--format=gnu',
    `--mtime=@${time}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--no-recursion',
  ];
  const tar = spawn('tar', ['-C', folder, ...options, '-cf', '-', ...names], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(tar, 'close');
  await pipeline(tar.stdout, createGzip(), createWriteStream(file));
  const [code] = await exited;
  if (code !== 0) throw new Error(`tar failed with exit code ${code}`);
}

async function filesBelow(folder) {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true});
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}
