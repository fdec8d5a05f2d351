/** Placeholder for the program's name in the help texts of the bundle. */
export const PROGRAM_PLACEHOLDER = '\u0001name\u0001';

/** Marks a run of spaces; the code of the next character, minus that of a space, is its length. */
const RUN = '\u0002';
const NO_SPACES = ' '.charCodeAt(0);

/** Compresses the spaces of a help text, which make up a third of it. */
export function packHelp(text: string): string {
  return text.replaceAll(/ {4,80}/g, ({length}) => RUN + String.fromCharCode(NO_SPACES + length));
}

/** Restores a packed help text. `program` is the name by which kcri was called. */
export function unpackHelp(packed: string, program: string): string {
  return packed
    .replaceAll(/\u0002(.)/g, (_, count: string) => ' '.repeat(count.charCodeAt(0) - NO_SPACES))
    .replaceAll(PROGRAM_PLACEHOLDER, program);
}
