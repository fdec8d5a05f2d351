import {execFile} from 'node:child_process';
import {existsSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fetchFromSuite} from './debian-suite.mjs';
import {ensureNewerRunc} from './newer-runc.mjs';

/** Newer than the machine's own, newest first. Unstable's may need a newer libc than is here, then testing's may do. */
const SUITES = ['sid', 'testing', 'stable'];

/** Where what is fetched for tests is kept. */
export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'kcri-test');

/**
 * The second containerd for the tests, beside the machine's own: 2.x unpacked from a newer Debian suite, or 1.7
 * where no 2.x runs here. With 2.x comes a runc that fits it. Nothing is installed, and what was unpacked before is
 * used again.
 *
 * @param {(step: string) => void} say told what is done, and why when the result isn't the one that is wanted
 * @returns {Promise<{folder: string, version: string, runc?: string | undefined} | undefined>} undefined when none can
 *   be had; without `runc` it takes the machine's
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
  if (fallback === undefined) say('no second containerd: end-to-end tests run on one runtime only');
  else say(`no containerd 2 runs on this machine: the second runtime is ${fallback.version}`);
  return fallback;
}

/** Undefined, with the reason said, when the suite has none that runs here. */
async function containerdOf(suite, say) {
  try {
    if (!existsSync(join(CACHE, `containerd_${suite}`)))
      say(`unpacking a second containerd from Debian ${suite}`);
    const unpacked = await fetchFromSuite({suites: [suite], package: 'containerd', into: CACHE});
    const folder = join(unpacked, 'usr/bin');
    const {stdout} = await promisify(execFile)(join(folder, 'containerd'), ['--version']);
    const version = /\s(\d+\.\d+\.\S+)/.exec(stdout)?.[1];
    if (version === undefined) throw new Error(`it calls itself "${stdout.trim()}"`);
    return {folder, version};
  } catch (error) {
    say(`no containerd from Debian ${suite}: ${String(error.message).split('\n')[0]}`);
    return undefined;
  }
}
