import {execFile} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {startFakeRuntime} from '../compile-fakes.mjs';

/** What is run most often, the most important first: the arguments for a container's id, and the exit code. */
const RUNS = [
  {args: () => ['ps', '-a']},
  {args: () => ['version']},
  {args: () => ['pods']},
  {args: () => ['images']},
  {args: (id) => ['inspect', id]},
  {args: (id) => ['exec', '--sync', id, 'true']},
  {args: () => ['--help']},
  {args: () => ['ps', '--bogus'], exitCode: 1},
];

/**
 * Tells Bun which bytecode is used when a program starts, so that it lies together: a twentieth less time. Bun writes
 * the files itself, while commands run on the fake runtime; a program has the same ones each time.
 *
 * @param {string} program an executable with bytecode, for this machine
 * @param {string} folder where the files are made
 * @returns {Promise<string[]>} the files, for --bytecode-order
 */
export async function bytecodeOrder(program, folder) {
  const runtime = await startFakeRuntime();
  try {
    const [{id}] = runtime.containers;
    const files = [];
    for (const {args, exitCode = 0} of RUNS) {
      const file = join(folder, `order-${files.length}`);
      // The machine's zone would show in what is loaded.
      const env = {TZ: 'UTC', CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint, BUN_BYTECODE_ORDER_OUT: file};
      await runWith(env, [program, args(id), exitCode]);
      files.push(file);
    }
    return files;
  } finally {
    await runtime[Symbol.asyncDispose]();
  }
}

async function runWith(env, [program, args, expected]) {
  const {code = 0, stderr} = await promisify(execFile)(program, args, {env}).catch((error) => error);
  if (code !== expected) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${stderr}`);
}
