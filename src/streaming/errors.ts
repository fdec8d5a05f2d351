import {KcriError, type KcriErrorOptions} from '../base/errors.js';

/** An exec, attach or port-forward session could not be opened, or broke. */
export class StreamingError extends KcriError {
  readonly code = 'STREAMING';
}

/** The streaming server answered, but would not speak the protocol that was asked for. */
export class UpgradeRefusedError extends KcriError {
  readonly code = 'STREAMING_REFUSED';
  /** The HTTP status that it gave instead of 101. */
  readonly status: number;

  constructor(status: number, message: string, options: KcriErrorOptions = {}) {
    super(message, options);
    this.status = status;
  }
}
