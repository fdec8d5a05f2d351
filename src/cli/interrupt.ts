import {KcriError} from '../base/errors.js';
import {EXIT} from './exit-codes.js';

const SIGNALS = {SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated} as const;

/** The command was ended by Ctrl-C or SIGTERM. */
export class InterruptedError extends KcriError {
  readonly code = 'INTERRUPTED';
  override readonly exitCode: number;

  constructor(signal: keyof typeof SIGNALS) {
    super('interrupted');
    this.exitCode = SIGNALS[signal];
  }
}

/** That, as crictl has it: the call that was waited for failed. */
class InterruptedCallError extends KcriError {
  readonly code = 'INTERRUPTED_CALL';

  constructor() {
    super('interrupted: context canceled');
  }
}

/** The error of a command that a signal ended. */
export function interruption(signal: keyof typeof SIGNALS, {compat}: {readonly compat: boolean}): KcriError {
  return compat ? new InterruptedCallError() : new InterruptedError(signal);
}

/**
 * A signal that the first Ctrl-C or SIGTERM aborts with an InterruptedError, so that the command can clean up;
 * the second one ends the process at once.
 */
export function interruptSignal({compat}: {readonly compat: boolean}): AbortSignal {
  const controller = new AbortController();
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(compat ? EXIT.failed : SIGNALS[name]);
      controller.abort(interruption(name, {compat}));
    });
  }
  return controller.signal;
}
