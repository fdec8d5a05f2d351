const PLAIN = /^[\w@%+=:,./][\w@%+=:,./~-]*$/;

/**
 * The text as one word of a shell's command line, for commands that a person may copy: a container chooses the names in
 * its volumes, and may choose one that is a command.
 */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
