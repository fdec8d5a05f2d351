import {SystemError} from '../../base/errors.js';

/** Volumes of a pod that could not be mounted, told as the first of them. */
export class MountError extends SystemError {
  readonly failures: readonly [SystemError, ...SystemError[]];

  constructor(failures: readonly [SystemError, ...SystemError[]]) {
    const [{message, cause, hint}] = failures;
    super(message, {cause, hint});
    this.failures = failures;
  }
}
