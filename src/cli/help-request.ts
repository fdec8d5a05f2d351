/** Not an error: the command line asks for help, found out while it was being parsed. */
export class HelpRequest extends Error {
  /** The command's words; empty for the program itself. */
  readonly words: readonly string[];

  constructor(words: readonly string[]) {
    super('help requested');
    this.words = words;
  }
}
