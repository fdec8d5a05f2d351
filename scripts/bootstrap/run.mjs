import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';

/** The checkout. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Something is missing or failed: the message is one sentence that says what to do. */
export class SetupError extends Error {}

/** One line of progress. */
export function say(step) {
  process.stderr.write(`set-up: ${step}\n`);
}

/**
 * Runs a program in the checkout and gives its exit code. Its output is the person's; with `quiet`, both of its
 * streams go to stderr.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{env?: Readonly<Record<string, string>>, quiet?: boolean}} [options]
 * @returns {Promise<number>}
 */
export async function run(program, args, {env = {}, quiet = false} = {}) {
  const child = spawn(program, args, {
    cwd: ROOT,
    env: {...process.env, ...env},
    stdio: ['ignore', quiet ? 2 : 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}
