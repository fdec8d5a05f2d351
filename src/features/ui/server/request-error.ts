import type {UiError} from '../protocol.js';

/** Request that is answered with an error. */
export class RequestError extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  /** `status` is of HTTP; the message and the hint are shown on the page. */
  constructor(status: number, message: string, hint?: string) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
    this.hint = hint;
  }

  /** Body of the answer. */
  get body(): UiError {
    return {error: this.message, ...(this.hint !== undefined && {hint: this.hint})};
  }
}
