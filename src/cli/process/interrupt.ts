import {CallbackAbortController} from '../../base/async/abort-callbacks.js';
import {KcriError} from '../../base/errors.js';
import {EXIT} from './exit-codes.js';

const SIGNALS = {SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated} as const;

/** Error of a command interrupted by Ctrl-C or SIGTERM. */
export class InterruptedError extends KcriError {
  readonly code = 'INTERRUPTED';
  override readonly exitCode: number;

  constructor(signal: keyof typeof SIGNALS) {
    super('interrupted');
    this.exitCode = SIGNALS[signal];
  }
}

/** Error of an interrupted command in crictl's dialect: the pending call failed. */
class InterruptedCallError extends KcriError {
  readonly code = 'INTERRUPTED_CALL';

  constructor() {
    super('interrupted: context canceled');
  }
}

/** Returns the error of a command interrupted by a signal. */
export function interruption(signal: keyof typeof SIGNALS, {compat}: {readonly compat: boolean}): KcriError {
  return compat ? new InterruptedCallError() : new InterruptedError(signal);
}

/**
 * Returns a signal that the first Ctrl-C or SIGTERM aborts with an InterruptedError, so that the command can clean up.
 * A second one terminates the process immediately.
 */
export function interruptSignal({compat}: {readonly compat: boolean}): AbortSignal {
  const controller = new CallbackAbortController();
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(compat ? EXIT.failed : SIGNALS[name]);
      controller.abort(interruption(name, {compat}));
    });
  }
  return controller.signal;
}

/**
 * Lets SIGHUP, as of a terminal that is closed, interrupt the command like SIGTERM until disposed. Without that, it ends the
 * process before the command can clean up. Node.js does not inherit an ignored SIGHUP, so that this overrides nothing.
 */
export function interruptOnHangUp(): Disposable {
  const terminate = (): void => {
    process.kill(process.pid, 'SIGTERM');
  };
  process.on('SIGHUP', terminate);
  return {
    [Symbol.dispose]: () => {
      process.off('SIGHUP', terminate);
    },
  };
}
