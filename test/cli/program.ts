import {createRequire} from 'node:module';
import {expect} from 'vitest';
import {KcriError} from '../../src/base/errors.js';
import type {CliContext} from '../../src/cli/process/context.js';
import {InterruptedError, type interruption} from '../../src/cli/process/interrupt.js';
import {main as sourceMain} from '../../src/program/main.js';
import {runInWorker, workerPid} from './worker/run-in-worker.js';

/** The module dist/quick: the same program, with its own classes. */
interface Bundle {
  readonly main: typeof sourceMain;
  readonly interruption: typeof interruption;
}

/** Tests that inspect kcri's process, by the end of their names. The project `binary` runs them like `bundle`. */
const IN_THIS_PROCESS: readonly (readonly [name: string, why: string])[] = [
  ['a slow reader pauses reading', 'measures the memory of the process'],
  ['the cursor is shown again > when the process exits immediately', "calls the process's exit listeners"],
];

/** JavaScript engine of the program under test. */
export const RUNTIME = process.env['KCRI_TEST_WORKER'] === undefined ? 'node' : 'bun';

const isWorker = RUNTIME === 'bun';

/**
 * Program under test: the sources, or in vitest's project `bundle` the build of `npm run build`, both in this process.
 * In the project `binary` it is the build of `npm run build:binary` in another process.
 */
export const main: (argv: readonly string[], context: CliContext) => Promise<number> = selectMain();

/** Returns the PID of the process that runs the program under test. */
export function programPid(): number {
  return isWorker ? (workerPid() ?? NaN) : process.pid;
}

/** Sends SIGHUP to the program under test, or emits it in this process. */
export function sendHangup(): void {
  if (isWorker) process.kill(programPid(), 'SIGHUP');
  else process.emit('SIGHUP', 'SIGHUP');
}

function selectMain(): typeof main {
  if (isWorker) return workerMain;
  return process.env['KCRI_TEST_BUNDLE'] === undefined ? sourceMain : bundledMain();
}

async function workerMain(argv: readonly string[], context: CliContext): Promise<number> {
  const {currentTestName = ''} = expect.getState();
  const runsHere = IN_THIS_PROCESS.some(([name]) => currentTestName.endsWith(name));
  return await (runsHere ? bundledMain() : runInWorker)(argv, context);
}

function bundledMain(): typeof main {
  const load = createRequire(import.meta.url);
  const {program} = load('../../dist/quick/loader.cjs') as {program: Bundle};
  return async (argv, context) =>
    await program.main(argv, {...context, signal: withBundleErrors(context.signal, program)});
}

/** Returns a signal that is aborted with errors of the bundle's own classes, since errors are recognized by class. */
function withBundleErrors(signal: AbortSignal, {interruption}: Bundle): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    const {reason} = signal as {reason: unknown};
    if (!(reason instanceof KcriError)) controller.abort(reason);
    else if (!(reason instanceof InterruptedError)) controller.abort(interruption('SIGINT', {compat: true}));
    else controller.abort(interruption(reason.exitCode === 143 ? 'SIGTERM' : 'SIGINT', {compat: false}));
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, {once: true});
  return controller.signal;
}
