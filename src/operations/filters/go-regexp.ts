import {UsageError} from '../../base/errors.js';

/** Compiled pattern. */
export interface TextPattern {
  /** Reports whether a text contains a match. Takes time linear in the length of the text. */
  test(text: string): boolean;
}

/**
 * Compiles a regular expression in Go's syntax (RE2), as crictl accepts it. Rejects with UsageError with Go's text.
 * Unlike Go, it accepts scripts only by their proper names: `\p{Greek}`, but not `\p{greek}`. The engine is loaded on
 * first use.
 */
export async function compileGoRegexp(pattern: string): Promise<TextPattern> {
  // Bytes of an argument that are not UTF-8 are lone surrogates.
  const [invalid] = /[\udc80-\udcff].*/su.exec(pattern) ?? [];
  if (invalid !== undefined) throw new UsageError(`error parsing regexp: invalid UTF-8: \`${invalid}\``);
  const {RE2JS, RE2JSSyntaxException} = await import('re2js');
  try {
    return RE2JS.compile(forEngine(pattern));
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    throw new UsageError(goText(error, pattern), {cause: error});
  }
}

/** Parts of a pattern: quoted texts, classes by name, escapes, classes, and starts of groups with a name. */
const PARTS = /\\Q.*?(?:\\E|$)|\\[pP]\{[^}]*\}|\\.|\[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]|\(\?P?<(\w+)>/gs;

/** Returns the pattern as the engine reads it: without repeated names of groups, and with short names of classes. */
function forEngine(pattern: string): string {
  const seen = new Set<string>();
  return pattern.replace(PARTS, (part: string, name: string | undefined) => {
    if (name === undefined) return part.startsWith('\\Q') ? part : shortClasses(part);
    // Go accepts a name twice.
    if (seen.has(name)) return '(';
    seen.add(name);
    return part;
  });
}

/** Long names of Unicode's general categories, which Go has known since 1.25, with the short ones. A function, since most commands compile no pattern. */
const categories = (): Readonly<Record<string, string>> => ({
  casedletter: '[\\p{Lu}\\p{Ll}\\p{Lt}]',
  closepunctuation: '\\p{Pe}',
  connectorpunctuation: '\\p{Pc}',
  control: '\\p{Cc}',
  currencysymbol: '\\p{Sc}',
  dashpunctuation: '\\p{Pd}',
  decimalnumber: '\\p{Nd}',
  digit: '\\p{Nd}',
  enclosingmark: '\\p{Me}',
  finalpunctuation: '\\p{Pf}',
  format: '\\p{Cf}',
  initialpunctuation: '\\p{Pi}',
  letter: '\\p{L}',
  letternumber: '\\p{Nl}',
  lineseparator: '\\p{Zl}',
  lowercaseletter: '\\p{Ll}',
  mark: '\\p{M}',
  mathsymbol: '\\p{Sm}',
  modifierletter: '\\p{Lm}',
  modifiersymbol: '\\p{Sk}',
  nonspacingmark: '\\p{Mn}',
  number: '\\p{N}',
  openpunctuation: '\\p{Ps}',
  otherletter: '\\p{Lo}',
  othernumber: '\\p{No}',
  otherpunctuation: '\\p{Po}',
  othersymbol: '\\p{So}',
  paragraphseparator: '\\p{Zp}',
  privateuse: '\\p{Co}',
  punct: '\\p{P}',
  punctuation: '\\p{P}',
  separator: '\\p{Z}',
  spaceseparator: '\\p{Zs}',
  spacingmark: '\\p{Mc}',
  surrogate: '\\p{Cs}',
  symbol: '\\p{S}',
  titlecaseletter: '\\p{Lt}',
  uppercaseletter: '\\p{Lu}',
  ascii: '[\\x00-\\x7f]',
});

/** Replaces the long names of classes. Those of several ranges stand in a class only as they are. */
function shortClasses(part: string): string {
  const shortNames = categories();
  return part.replace(/\\([pP])\{(\^?)([^}]*)\}/g, (whole, letter: string, caret: string, name: string) => {
    const short = shortNames[name.toLowerCase().replaceAll(/[ _-]/g, '')];
    const negated = (letter === 'P') !== (caret === '^');
    if (short === undefined) return whole;
    if (!short.startsWith('[')) return negated ? short.replace('p', 'P') : short;
    return part.startsWith('[') ? whole : negated ? `[^${short.slice(1)}` : short;
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
