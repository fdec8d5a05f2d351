import {mkdir, mkdtemp, readFile, rename, rm} from 'node:fs/promises';
import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {fileDigest} from '../file-digest.mjs';

const run = promisify(execFile);
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const CACHE = join(ROOT, 'node_modules/.cache/kcri-bun');

/** The Bun release that executables contain: its version, and its npm package for each target. */
export const BUN = JSON.parse(await readFile(new URL('runtimes.json', import.meta.url), 'utf8'));

export const TARGETS = Object.keys(BUN.packages);

/** The target of this machine, if it has glibc. */
export const HOST_TARGET = `linux-${process.arch}`;

/**
 * Returns the Bun executable for a target. The first call downloads its package with npm, using npm's configuration.
 * The package is only used if its integrity is the expected one.
 *
 * @param {string} target one of TARGETS
 * @returns {Promise<string>} the file
 */
export async function bunFor(target) {
  const {name, integrity} = BUN.packages[target];
  const folder = join(CACHE, `${target}-${BUN.version}`);
  const file = join(folder, 'package/bin/bun');
  if (existsSync(file)) return file;
  await mkdir(CACHE, {recursive: true});
  const scratch = await mkdtemp(join(CACHE, '.fetch-'));
  try {
    const archive = await npmPack(`${name}@${BUN.version}`, scratch);
    const actual = `sha512-${await fileDigest(archive, 'sha512', 'base64')}`;
    if (actual !== integrity)
      throw new Error(
        `${name}@${BUN.version} has the integrity ${actual} instead of ${integrity} (scripts/binary/runtimes.json)`,
      );
    const unpacked = join(scratch, 'unpacked');
    await mkdir(unpacked);
    await run('tar', ['-xzf', archive, '-C', unpacked]);
    await rename(unpacked, folder).catch((error) => {
      // Another process was faster, and its copy is as good.
      if (!existsSync(file)) throw error;
    });
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
  return file;
}

async function npmPack(spec, folder) {
  const {stdout} = await run('npm', ['pack', '--json', '--pack-destination', folder, spec], {cwd: folder});
  return join(folder, JSON.parse(stdout)[0].filename);
}
