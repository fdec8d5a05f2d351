import {accessSync, constants} from 'node:fs';
import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {debName, writeDeb} from './debian.mjs';
import {ARCHITECTURES, neededGlibc} from './identity.mjs';
import {rpmName, writeRpm} from './rpm.mjs';

/**
 * What packages of a target are made from.
 *
 * @typedef {object} Packed
 * @property {string} root the built checkout
 * @property {{version: string, license: string}} manifest package.json
 * @property {string} target
 * @property {string} program the executable
 * @property {string} glibc the version of glibc that it needs
 * @property {string} noticesText
 * @property {number} time of the release, in seconds since the epoch
 */

/** Programs that make packages, and the Debian packages that have them. */
const TOOLS = {'dpkg-deb': 'dpkg', rpmbuild: 'rpm'};

/**
 * Returns what is missing to make packages on this machine, and how to get it; undefined if nothing is.
 *
 * @returns {string | undefined}
 */
export function explainMissingTools() {
  const missing = Object.keys(TOOLS).filter((name) => !isInstalled(name));
  if (missing.length === 0) return undefined;
  const packages = missing.map((name) => TOOLS[name]).join(' ');
  return `packages need ${missing.join(' and ')}: run "apt-get install ${packages}", or leave the packages out with --no-packages`;
}

function isInstalled(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/**
 * Writes the Debian and the rpm package of a target to a directory, and returns their names. Only executables for glibc
 * have packages.
 *
 * @param {Omit<Packed, 'glibc'>} packed
 * @param {string} folder
 * @returns {Promise<readonly string[]>}
 */
export async function writePackages(packed, folder) {
  const {manifest, target, program} = packed;
  if (ARCHITECTURES[target] === undefined) return [];
  const complete = {...packed, glibc: await neededGlibc(program)};
  const scratch = await mkdtemp(join(tmpdir(), 'kcri-packages-'));
  try {
    for (const [name, write] of Object.entries({deb: writeDeb, rpm: writeRpm})) {
      await mkdir(join(scratch, name));
      await write(complete, join(scratch, name), folder);
    }
  } finally {
    await rm(scratch, {recursive: true});
  }
  return [debName(manifest.version, target), rpmName(manifest.version, target)];
}
