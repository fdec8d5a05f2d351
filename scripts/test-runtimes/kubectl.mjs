import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {fetchFromSuite} from './debian-suite.mjs';

/** Suites that may have the version of kubectl that the tests need, newest first. */
const SUITES = ['sid', 'testing'];

/** Minor version of Kubernetes that kcri follows. */
const REQUIRED_MINOR = 36;

/**
 * Returns the path of a kubectl of version 1.36 or newer, unpacked from a newer Debian suite. Nothing is installed, and
 * unpacked files are reused.
 *
 * @param {string} cache the directory to unpack into
 * @returns {Promise<string>}
 * @throws {Error} with the reason of each suite if there is none
 */
export async function ensureKubectl(cache) {
  const reasons = [];
  for (const suite of SUITES) {
    try {
      const unpacked = await fetchFromSuite({suites: [suite], package: 'kubectl', into: cache});
      const kubectl = join(unpacked, 'usr/bin/kubectl');
      const {stdout} = await promisify(execFile)(kubectl, ['version', '--client', '-o', 'json']);
      const {gitVersion, minor} = JSON.parse(stdout).clientVersion;
      if (Number.parseInt(minor, 10) >= REQUIRED_MINOR) return kubectl;
      reasons.push(`Debian ${suite} has ${gitVersion}`);
    } catch (error) {
      reasons.push(String(error.message).split('\n')[0]);
    }
  }
  throw new Error(`kubectl 1.${REQUIRED_MINOR} is not available: ${reasons.join('; ')}`);
}
