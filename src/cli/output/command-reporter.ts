import {EXIT} from '../process/exit-codes.js';
import type {Reporter} from './reporter.js';

/** Reports to the user of one command, in the style of the dialect, and determines the exit code. */
export class CommandReporter {
  readonly #create: () => Reporter;
  #reporter: Reporter | undefined;
  #exitCode: number = EXIT.ok;
  #warn: ((text: string) => void) | undefined;

  /** `create` is called on first use. */
  constructor(create: () => Reporter) {
    this.#create = create;
  }

  /** Reporter without effect on the exit code. */
  get reporter(): Reporter {
    this.#reporter ??= this.#create();
    return this.#reporter;
  }

  /** Prints an informational message to standard error. */
  readonly info = (text: string): void => {
    this.reporter.info(text);
  };

  /** Prints a warning about a probable mistake. */
  readonly warn = (input: Error | string): void => {
    const text = input instanceof Error ? input.message : input;
    if (this.#warn === undefined) this.reporter.warn(text);
    else this.#warn(text);
  };

  /** Prints an error that does not change the exit code. */
  readonly error = (text: string): void => {
    this.reporter.error(text);
  };

  /** Prints an error and lets the command continue; the command exits with the error's code. */
  readonly fail = (error: unknown): void => {
    this.setExitCode(this.reporter.fail(error));
  };

  /** Passes warnings to `handler` instead of standard error; undefined restores that. */
  redirectWarnings(handler: ((text: string) => void) | undefined): void {
    this.#warn = handler;
  }

  /** Exit code of the command. */
  get exitCode(): number {
    return this.#exitCode;
  }

  /** Sets the exit code; the first code other than 0 wins. */
  setExitCode(code: number): void {
    if (this.#exitCode === EXIT.ok) this.#exitCode = code;
  }

  /** Resets the exit code to 0 despite earlier errors. */
  resetExitCode(): void {
    this.#exitCode = EXIT.ok;
  }
}
