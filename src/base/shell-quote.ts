const PLAIN = /^[\w@%+=:,./][\w@%+=:,./~-]*$/;

/**
 * Quotes the text as one word of a shell command line, for commands that people copy: a container chooses the names in
 * its volumes and could choose one that contains a command.
 */
export function shellQuote(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
