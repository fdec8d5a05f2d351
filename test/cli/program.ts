import {createRequire} from 'node:module';
import {KcriError} from '../../src/base/errors.js';
import type {CliContext} from '../../src/cli/context.js';
import {InterruptedError, type interruption} from '../../src/cli/interrupt.js';
import {main as sourceMain} from '../../src/cli/main.js';

/** What dist/quick gives: the same program, with classes of its own. */
interface Bundle {
  readonly main: typeof sourceMain;
  readonly interruption: typeof interruption;
}

/**
 * The program under test, in this process: the sources, or in vitest's project `bundle` what `npm run build` made of
 * them.
 */
export const main: (argv: readonly string[], context: CliContext) => Promise<number> =
  process.env['KCRI_TEST_BUNDLE'] === undefined ? sourceMain : bundledMain();

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
