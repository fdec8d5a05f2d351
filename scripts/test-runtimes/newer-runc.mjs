import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {readdir, readFile, rename} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fetchFromSuite} from './debian-suite.mjs';

const run = promisify(execFile);

/** Stable's may be older than what is wanted. */
const SUITES = ['sid', 'testing', 'stable'];

/** The first one that gives a pod with `hostUsers: false` its volumes. */
const WANTED = {major: 1, minor: 2};

/**
 * A runc that can run pods with users of their own, unpacked from a newer Debian suite. Where the machine's libc is
 * too old for it, a copy is made that takes the libc of its own suite: a wrapper won't do, because runc starts
 * itself again. Nothing is installed, and what was unpacked before is used again.
 *
 * @param {string} cache the directory to unpack into
 * @param {(step: string) => void} say told why when a suite's runc isn't taken
 * @returns {Promise<string | undefined>} its path; undefined when none can be had
 */
export async function ensureNewerRunc(cache, say) {
  for (const suite of SUITES) {
    try {
      const runc = await runcOf(suite, cache);
      const {stdout} = await run(runc, ['--version']);
      const [, major, minor] = /(\d+)\.(\d+)\.\d/.exec(stdout)?.map(Number) ?? [];
      if (major > WANTED.major || (major === WANTED.major && minor >= WANTED.minor)) return runc;
      say(`no newer runc from Debian ${suite}: it is ${stdout.split('\n')[0]}`);
    } catch (error) {
      say(`no runc from Debian ${suite}: ${String(error.message).split('\n')[0]}`);
    }
  }
  say('no newer runc: the second runtime has the machine’s, and pods with hostUsers: false are not run');
  return undefined;
}

/** One that runs here, unless even the suite's libc doesn't help. */
async function runcOf(suite, cache) {
  const bin = join(await unpack('runc', suite, cache), 'usr/bin');
  const [asPackaged, withOwnLibc] = [join(bin, 'runc'), join(bin, 'runc-with-libc')];
  if (existsSync(withOwnLibc)) return withOwnLibc;
  if (await works(asPackaged)) return asPackaged;
  await copyWithLibc({program: asPackaged, copy: withOwnLibc, suite, cache});
  return withOwnLibc;
}

/** Copies a program so that it starts with the loader and the libc of `suite`. */
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

/** Debian keeps libraries in a folder of the architecture's name. */
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
