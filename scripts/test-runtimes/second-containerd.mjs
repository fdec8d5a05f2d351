import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fetchFromSuite} from './debian-suite.mjs';
import {ensureNewerRunc} from './newer-runc.mjs';

/**
 * Suites newer than the machine's own, newest first. Packages of unstable may need a newer libc than this machine's.
 */
const SUITES = ['sid', 'testing', 'stable'];

/** Directory of files downloaded for tests. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'kcri-test');

/**
 * Returns the second containerd for the tests, in addition to the machine's own: 2.x unpacked from a newer Debian
 * suite, or 1.7 if no 2.x runs on this machine. A 2.x comes with a matching runc. Nothing is installed, and unpacked
 * files are reused.
 *
 * @param {(step: string) => void} say called with progress, and with the reason why a preferred version is not used
 * @returns {Promise<{folder: string, version: string, runc?: string | undefined} | undefined>} undefined if there is
 * none; without `runc` it uses the machine's
 */
export async function ensureSecondContainerd(say) {
  const found = [];
  for (const suite of SUITES) {
    const candidate = await containerdOf(suite, say);
    if (candidate === undefined) continue;
    if (candidate.version.startsWith('2.')) {
      say(`the second runtime is containerd ${candidate.version} (Debian ${suite})`);
      return {...candidate, runc: await ensureNewerRunc(CACHE, say)};
    }
    found.push(candidate);
  }
  const [fallback] = found;
  if (fallback === undefined) say('no second containerd is available: end-to-end tests run on one runtime');
  else say(`containerd 2 does not run on this machine: the second runtime is containerd ${fallback.version}`);
  return fallback;
}

/** Returns the containerd of a suite, or undefined after reporting the reason. */
async function containerdOf(suite, say) {
  try {
    if (!existsSync(join(CACHE, `containerd_${suite}`)))
      say(`downloading containerd from Debian ${suite} as the second runtime`);
    const unpacked = await fetchFromSuite({suites: [suite], package: 'containerd', into: CACHE});
    const folder = join(unpacked, 'usr/bin');
    const {stdout} = await promisify(execFile)(join(folder, 'containerd'), ['--version']);
    const version = /\s(\d+\.\d+\.\S+)/.exec(stdout)?.[1];
    if (version === undefined) throw new Error(`its version output is "${stdout.trim()}"`);
    return {folder, version};
  } catch (error) {
    say(`containerd of Debian ${suite} is not available: ${String(error.message).split('\n')[0]}`);
    return undefined;
  }
}
