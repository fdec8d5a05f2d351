import type {UsageError} from '../../base/errors.js';

/** Request for help, or a usage error that help answers. */
export class HelpRequest extends Error {
  /** Words of the command; empty for the program. */
  readonly words: readonly string[];
  /** Usage error to show with the help. */
  readonly error: UsageError | undefined;
  /** Help to show instead of that of the words. */
  readonly text: string | undefined;

  constructor(words: readonly string[], error?: UsageError, text?: string) {
    super('help requested');
    this.words = words;
    this.error = error;
    this.text = text;
  }
}
