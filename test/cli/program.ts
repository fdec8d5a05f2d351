import {createRequire} from 'node:module';
import {expect} from 'vitest';
import {KcriError} from '../../src/base/errors.js';
import type {CliContext} from '../../src/cli/context.js';
import {InterruptedError, type interruption} from '../../src/cli/interrupt.js';
import {main as sourceMain} from '../../src/cli/main.js';
import {runInTwin, twinPid} from './twin/run-in-twin.js';

/** What dist/quick gives: the same program, with classes of its own. */
interface Bundle {
  readonly main: typeof sourceMain;
  readonly interruption: typeof interruption;
}

/** Tests that look into kcri's process, by the end of their names: the project `binary` runs them as `bundle` does. */
const IN_THIS_PROCESS: readonly (readonly [name: string, why: string])[] = [
  ['a slow reader holds back the reading', 'measures the memory of the process'],
  ['the cursor comes back > when the process ends at once', "calls the process's listeners for its end"],
];

/** What kcri runs on. */
export const RUNTIME = process.env['KCRI_TEST_TWIN'] === undefined ? 'node' : 'bun';

const isTwin = RUNTIME === 'bun';

/**
 * The program under test: the sources, or in vitest's project `bundle` what `npm run build` made of them, both in this
 * process; in the project `binary` what `npm run build:binary` makes of them, in another one.
 */
export const main: (argv: readonly string[], context: CliContext) => Promise<number> = chosenMain();

/** The process that the program under test has run in. */
export function programPid(): number {
  return isTwin ? (twinPid() ?? NaN) : process.pid;
}

/** What `kill -HUP` does to it. */
export function sendHangup(): void {
  if (isTwin) process.kill(programPid(), 'SIGHUP');
  else process.emit('SIGHUP', 'SIGHUP');
}

function chosenMain(): typeof main {
  if (isTwin) return twinMain;
  return process.env['KCRI_TEST_BUNDLE'] === undefined ? sourceMain : bundledMain();
}

async function twinMain(argv: readonly string[], context: CliContext): Promise<number> {
  const {currentTestName = ''} = expect.getState();
  const isHere = IN_THIS_PROCESS.some(([name]) => currentTestName.endsWith(name));
  return await (isHere ? bundledMain() : runInTwin)(argv, context);
}

function bundledMain(): typeof main {
  const load = createRequire(import.meta.url);
  const {program} = load('../../dist/quick/loader.cjs') as {program: Bundle};
  return async (argv, context) =>
    await program.main(argv, {...context, signal: interruptedBy(context.signal, program)});
}

/** The same signal, aborted with the bundle's own errors: an error is known by its class. */
function interruptedBy(signal: AbortSignal, {interruption}: Bundle): AbortSignal {
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
