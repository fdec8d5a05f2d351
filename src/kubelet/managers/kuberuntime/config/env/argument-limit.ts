import {ExpansionError} from '../../../../../api/expansion.js';
import {goQuote} from '../../../../../format/go-quote.js';
import {ContainerConfigError} from '../config-errors.js';

/**
 * Total size of arguments and environment in bytes that execve(2) never exceeds, whatever the stack limit is: three
 * quarters of 8 MiB.
 */
const MAX_TOTAL_BYTES = 6 * 1024 * 1024;

/** Limits the size of the arguments and the environment of a container to what execve(2) accepts. */
export class ArgumentLimit {
  readonly #container: string;
  #total = 0;

  constructor(container: string) {
    this.#container = container;
  }

  /**
   * Returns the value that `expand` returns. `what` names it in errors, such as `environment variable "A"`.
   *
   * @throws ContainerConfigError if this value is too large, or all values together are.
   */
  expand<T extends string | undefined>(what: string, expand: () => T): T {
    const value = this.#orConfigError(what, expand);
    this.add(what, value);
    return value;
  }

  /** Counts a value. Throws ContainerConfigError if all values together are too large. */
  add(what: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#total += Buffer.byteLength(value) + 1;
    if (this.#total > MAX_TOTAL_BYTES)
      throw new ContainerConfigError(
        `${this.#subject(what)}: argument list too long: arguments and environment exceed ${MAX_TOTAL_BYTES} bytes`,
      );
  }

  #orConfigError<T>(what: string, expand: () => T): T {
    try {
      return expand();
    } catch (error) {
      if (!(error instanceof ExpansionError)) throw error;
      throw new ContainerConfigError(`${this.#subject(what)}: ${error.message}`, {
        cause: error,
        hint: error.hint,
      });
    }
  }

  #subject(what: string): string {
    return `${what} of container ${goQuote(this.#container)}`;
  }
}
