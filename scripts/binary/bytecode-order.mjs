import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {startFakeRuntime} from '../compile-fakes.mjs';

/** The most frequent commands, the most important first, with the arguments for a container ID and the exit code. */
const RUNS = [
  {args: () => ['ps', '-a']},
  {args: () => ['version']},
  {args: () => ['pods']},
  {args: () => ['images']},
  {args: (id) => ['inspect', id]},
  {args: (id) => ['logs', id]},
  {args: (id) => ['exec', '--sync', id, 'true']},
  {args: () => ['--help']},
  {args: () => ['ps', '--bogus'], exitCode: 1},
];

/**
 * Records which bytecode is used at the start, so that Bun places it together, which makes the start 5 % faster. Bun
 * writes the files itself while commands run on the fake runtime. They are the same on every run.
 *
 * @param {string} program an executable with bytecode, for this machine
 * @param {string} folder where the files are written
 * @returns {Promise<string[]>} the files, for --bytecode-order
 */
export async function bytecodeOrder(program, folder) {
  const logPath = join(folder, 'container.log');
  await writeFile(logPath, '2026-11-20T10:00:00Z stdout F listening\n');
  const runtime = await startFakeRuntime({logPath});
  try {
    const [{id}] = runtime.containers;
    const files = [];
    for (const {args, exitCode = 0} of RUNS) {
      const file = join(folder, `order-${files.length}`);
      // The time zone of the machine would change which code is used.
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
  if (code !== expected) throw new Error(`${program} ${args.join(' ')} exited with ${code}: ${stderr}`);
}
