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

/**
 * A signal that the first Ctrl-C or SIGTERM aborts with an InterruptedError, so that the command can clean up;
 * the second one ends the process at once.
 */
export function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(SIGNALS[name]);
      controller.abort(new InterruptedError(name));
    });
  }
  return controller.signal;
}
