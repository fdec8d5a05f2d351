import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';

/** The root of the checkout. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Niceness of a program with low priority: a third of the share of others. With a higher one, such programs hardly run beside
 * programs of other users.
 */
const NICENESS = '5';

/** A failed or missing prerequisite. The message says what to do. */
export class SetupError extends Error {}

/** Prints a line of progress. */
export function say(step) {
  process.stderr.write(`setup: ${step}\n`);
}

/**
 * Runs a program in the checkout and returns its exit code. Its output goes to this process's streams: with `quiet`, all
 * of it to stderr; with `lines`, through a pipe, so that the program does not see a terminal. With `nice`, it and its
 * children run at a lower priority.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{env?: Readonly<Record<string, string>>, quiet?: boolean, lines?: boolean, nice?: boolean}} [options]
 * @returns {Promise<number>}
 */
export async function run(program, args, {env = {}, quiet = false, lines = false, nice = false} = {}) {
  const [command, ...words] = [...(nice ? ['nice', '-n', NICENESS] : []), program, ...args];
  const child = spawn(command, words, {
    cwd: ROOT,
    env: {...process.env, ...env},
    stdio: ['ignore', lines ? 'pipe' : quiet ? 2 : 'inherit', 'inherit'],
  });
  child.stdout?.pipe(process.stdout, {end: false});
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Waits for all steps, even if one fails, so that its error is printed last. Resolves with their results. */
export async function runAll(...steps) {
  const outcomes = await Promise.allSettled(steps);
  const failure = outcomes.find(({status}) => status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return outcomes.map(({value}) => value);
}
