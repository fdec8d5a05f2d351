import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {readdir, readFile, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fetchFromSuite} from './debian-suite.mjs';

const run = promisify(execFile);

/** Suites, newest first, since stable may have an older version. */
const SUITES = ['sid', 'testing', 'stable'];

/** The first version that supports volumes in pods with `hostUsers: false`. */
const REQUIRED = {major: 1, minor: 2};

/**
 * Returns a runc that supports user namespaces of pods, unpacked from a newer Debian suite. If the machine's libc is
 * too old, a copy uses the libc of its own suite: a wrapper does not work, since runc re-executes itself. Nothing is
 * installed, and unpacked files are reused.
 *
 * @param {string} cache the directory to unpack into
 * @param {(step: string) => void} say called with the reason why a suite's runc is not used
 * @returns {Promise<string | undefined>} its path, or undefined if there is none
 */
export async function ensureNewerRunc(cache, say) {
  for (const suite of SUITES) {
    try {
      const runc = await runcOf(suite, cache);
      const {stdout} = await run(runc, ['--version']);
      const [, major, minor] = /(\d+)\.(\d+)\.\d/.exec(stdout)?.map(Number) ?? [];
      if (major > REQUIRED.major || (major === REQUIRED.major && minor >= REQUIRED.minor)) return runc;
      say(`Debian ${suite} has no newer runc: it is ${stdout.split('\n')[0]}`);
    } catch (error) {
      say(`runc of Debian ${suite} is not available: ${String(error.message).split('\n')[0]}`);
    }
  }
  say(
    'no newer runc is available: the second runtime uses that of this machine, and pods with hostUsers: false are not tested',
  );
  return undefined;
}

/** Returns a runc that runs on this machine. Rejects if it does not run with the suite's libc either. */
async function runcOf(suite, cache) {
  const bin = join(await unpack('runc', suite, cache), 'usr/bin');
  const [asPackaged, withOwnLibc] = [join(bin, 'runc'), join(bin, 'runc-with-libc')];
  if (existsSync(withOwnLibc)) return withOwnLibc;
  if (await works(asPackaged)) return asPackaged;
  await copyWithLibc({program: asPackaged, copy: withOwnLibc, suite, cache});
  return withOwnLibc;
}

/** Copies a program and sets the loader and libc of `suite`. */
async function copyWithLibc({program, copy, suite, cache}) {
  const libraries = await libraryFolder(await unpack('libc6', suite, cache));
  const loader = (await readdir(libraries)).find((name) => name.startsWith('ld-linux'));
  const patchelf = join(await unpack('patchelf', await ownSuite(), cache), 'usr/bin/patchelf');
  const scratch = `${copy}.${process.pid}`;
  await run(patchelf, [
    ...['--set-interpreter', join(libraries, loader)],
    ...['--set-rpath', libraries],
    ...['--output', scratch, program],
  ]);
  await rename(scratch, copy);
}

/** Returns the directory of the libraries, which Debian names by architecture. */
async function libraryFolder(unpacked) {
  const lib = join(unpacked, 'usr/lib');
  const architecture = (await readdir(lib)).find((name) => name.includes('-linux-gnu'));
  return join(lib, architecture);
}

async function ownSuite() {
  return /^VERSION_CODENAME=(.+)$/m.exec(await readFile('/etc/os-release', 'utf8'))?.[1];
}

function unpack(name, suite, into) {
  return fetchFromSuite({suites: [suite], package: name, into});
}

async function works(program) {
  return run(program, ['--version']).then(
    () => true,
    () => false,
  );
}
