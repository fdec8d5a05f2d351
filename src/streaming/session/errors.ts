import {KcriError, type KcriErrorOptions} from '../../base/errors.js';

/** Error of an exec, attach or port-forward session that could not be opened, or that failed. */
export class StreamingError extends KcriError {
  readonly code = 'STREAMING';
}

/** Error of a streaming server that responded, but refused the upgrade to the requested protocol. */
export class UpgradeRefusedError extends KcriError {
  readonly code = 'STREAMING_REFUSED';
  /** HTTP status of the response, instead of 101. */
  readonly status: number;

  constructor(status: number, message: string, options: KcriErrorOptions = {}) {
    super(message, options);
    this.status = status;
  }
}
