import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {LEEWAY, percentMore} from './excess.mjs';

/** Maximum number of runs: each takes five seconds of processor time. */
const MAX_RUNS = 4;

/**
 * Counts the instructions that Node.js executes for a script, in all threads. Unlike time, they hardly depend on other
 * work of the machine.
 *
 * @param {readonly string[]} args the script and its arguments
 * @param {Readonly<Record<string, string>>} env
 * @param {number} [limit] instructions
 */
export async function countInstructions(args, env, limit) {
  return await lowestCount(() => countOnce(args, env), limit);
}

/**
 * Returns the lowest count of several runs, since a busy machine may deliver a response in more parts. Stops at the first
 * that is within the limit.
 *
 * @param {() => Promise<number>} count
 * @param {number} [limit]
 */
export async function lowestCount(count, limit = 0) {
  let lowest = await count();
  for (let run = 1; run < MAX_RUNS && lowest > limit; run += 1) lowest = Math.min(lowest, await count());
  return lowest;
}

/**
 * Counts one run. The seed makes V8 draw the same numbers for its hash tables in each run, which otherwise costs up to
 * 7 % more or less; valgrind must notice that V8 writes code. The output goes to a pipe, as in scripts: what Node.js
 * connects to its children is a socket, for whose output a program loads the streams of Node.js.
 */
async function countOnce(args, env) {
  const options = ['--tool=cachegrind', '--cache-sim=no', '--cachegrind-out-file=/dev/null'];
  const node = ['--smc-check=all-non-file', process.execPath, '--random-seed=1', ...args];
  const command = ['-c', '"$@" | cat', 'sh', 'valgrind', ...options, ...node];
  // Without valgrind, both programs of the pipe may be missing.
  const {stderr} = await promisify(execFile)('/bin/sh', command, {env}).catch((error) => error);
  const count = /I\s+refs:\s+([\d,]+)/.exec(stderr)?.[1];
  if (count !== undefined) return Number(count.replaceAll(',', ''));
  throw new Error(
    stderr.includes('valgrind: not found')
      ? 'instructions cannot be counted without valgrind: install it, for example with apt-get'
      : `valgrind reported no instructions for ${args.join(' ')}: ${stderr}`,
  );
}

/**
 * Returns why the instructions of a budget cannot be compared on this version of Node.js, or undefined if they can.
 *
 * @param {string} budgeted major version of the budget, such as `v20`
 * @param {string} now
 */
export function explainOtherNode(budgeted, now) {
  return budgeted === now
    ? undefined
    : `instructions cannot be compared: the budget is that of Node.js ${budgeted}, and this is ${now}: use ${budgeted}`;
}

/**
 * Returns a line if a command needs more instructions than its budget, and undefined otherwise.
 *
 * @param {number | undefined} budget undefined for a new command
 * @param {number} now
 */
export function excessInstructions(budget, now) {
  if (budget === undefined) return `executes ${millions(now)}, and has no budget`;
  const percent = percentMore({budget, now}, LEEWAY.instructions);
  return percent === undefined
    ? undefined
    : `executes ${millions(now)} beyond an empty script, ${percent} % more than its budget of ${millions(budget)}`;
}

function millions(count) {
  return `${(count / 1e6).toFixed(1)} million instructions`;
}
