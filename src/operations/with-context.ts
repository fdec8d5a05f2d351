import {KcriError} from '../base/errors.js';

/** An expected error with what was being done in front; code, hint and exit code are those of its cause. */
export class OperationError extends KcriError {
  readonly code: string;
  override readonly exitCode: number;
  readonly #doing: string;
  readonly #failed: KcriError;

  constructor(doing: string, cause: KcriError) {
    super(`${doing}: ${cause.message}`, {cause, hint: cause.hint});
    this.#doing = doing;
    this.#failed = cause;
    this.code = cause.code;
    this.exitCode = cause.exitCode;
  }

  override get plainMessage(): string {
    return `${this.#doing}: ${this.#failed.plainMessage}`;
  }
}

/** Errors that speak for themselves: what was being done does not matter to them. */
const PLAIN: ReadonlySet<string> = new Set(['INTERRUPTED', 'USAGE']);

/** Waits for `work` and says what was being done when it fails. Programming faults pass as they are. */
export async function withContext<T>(doing: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof KcriError && !PLAIN.has(error.code) ? new OperationError(doing, error) : error;
  }
}
