/** Go's own escapes; the rest is written by its code point. */
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** The text as Go's %q writes it: in double quotes, with everything that doesn't print escaped (strconv.Quote). */
export function goQuote(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escape)}"`;
}

/** The text as Go's %+q writes it: everything beyond ASCII is escaped too (strconv.QuoteToASCII). */
export function goQuoteAscii(text: string): string {
  return `"${text.replace(/["\\]|[^ -~]/gu, escape)}"`;
}

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  if (code < 0x80) return ESCAPES[character] ?? `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
