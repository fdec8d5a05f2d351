import {KcriError} from '../base/errors.js';

/** An expected error, prefixed with the operation that failed. Code, hint and exit code are those of its cause. */
export class OperationError extends KcriError {
  readonly code: string;
  override readonly exitCode: number;
  readonly #operation: string;
  readonly #cause: KcriError;

  constructor(operation: string, cause: KcriError) {
    super(`${operation}: ${cause.message}`, {cause, hint: cause.hint});
    this.#operation = operation;
    this.#cause = cause;
    this.code = cause.code;
    this.exitCode = cause.exitCode;
  }

  override get plainMessage(): string {
    return `${this.#operation}: ${this.#cause.plainMessage}`;
  }
}

/** Codes of errors that are not prefixed with the operation. */
const UNPREFIXED_CODES: ReadonlySet<string> = new Set(['INTERRUPTED', 'USAGE']);

/** Awaits `work` and prefixes its error with the operation. Programming errors are not changed. */
export async function withContext<T>(operation: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof KcriError && !UNPREFIXED_CODES.has(error.code)
      ? new OperationError(operation, error)
      : error;
  }
}
