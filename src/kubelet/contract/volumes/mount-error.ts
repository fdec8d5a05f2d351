import {SystemError} from '../../../base/errors.js';

/** Reports the volumes of a pod that failed to mount; message, cause and hint are those of the first failure. Each has had its event. */
export class MountError extends SystemError {
  readonly failures: readonly [SystemError, ...SystemError[]];
  /** Time at which the first failed volume is due again, in ms of the monotonic clock; undefined if none has failed. */
  readonly retryAt: number | undefined;

  constructor(failures: readonly [SystemError, ...SystemError[]], retryAt: number | undefined) {
    const [{message, cause, hint}] = failures;
    super(message, {cause, hint});
    this.failures = failures;
    this.retryAt = retryAt;
  }
}
