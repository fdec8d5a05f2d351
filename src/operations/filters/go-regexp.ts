import {UsageError} from '../../base/errors.js';

/** Compiled pattern. */
export interface TextPattern {
  /** Reports whether a text contains a match. Takes time linear in the length of the text. */
  test(text: string): boolean;
}

/**
 * Compiles a regular expression in Go's syntax (RE2), as crictl accepts it. Rejects with UsageError with Go's text.
 * Unlike Go, it accepts Unicode classes only by their proper names: `\pL` and `\p{Greek}`, but not `\p{letter}`. The
 * engine is loaded on first use.
 */
export async function compileGoRegexp(pattern: string): Promise<TextPattern> {
  const {RE2JS, RE2JSSyntaxException} = await import('re2js');
  try {
    return RE2JS.compile(withoutNames(pattern));
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new UsageError(goText(error, pattern), {cause: error});
  }
}

/** Parts of a pattern: quoted texts, escapes, classes, and starts of groups with the same name as an earlier one. */
const PARTS = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\(\?P?<(\w+)>/gs;

/** Removes the names of groups from the second on of the same name, which the engine rejects and Go accepts. */
function withoutNames(pattern: string): string {
  const seen = new Set<string>();
  return pattern.replace(PARTS, (part: string, name: string | undefined) => {
    if (name === undefined || !seen.has(name)) {
      if (name !== undefined) seen.add(name);
      return part;
    }
    return '(';
  });
}

/** Formats an error as regexp/syntax does, which names the whole pattern where the engine names no part of it. */
function goText(
  error: Error & {readonly error: string; readonly input: string | null},
  pattern: string,
): string {
  const part = error.input ?? (error.error.startsWith('trailing backslash') ? '' : pattern);
  return `error parsing regexp: ${error.error}: \`${part}\``;
}
