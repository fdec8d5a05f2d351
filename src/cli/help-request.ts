import type {UsageError} from '../base/errors.js';

/** Not an error: the command line asks for help, or is answered with it. */
export class HelpRequest extends Error {
  /** The command's words; empty for the program itself. */
  readonly words: readonly string[];
  /** What is wrong with the command line, to be told with the help. */
  readonly error: UsageError | undefined;

  constructor(words: readonly string[], error?: UsageError) {
    super('help requested');
    this.words = words;
    this.error = error;
  }
}
