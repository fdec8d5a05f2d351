/** Go's named escapes; other characters are escaped by code point. */
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

/** Quotes a text like Go's %q: in double quotes, with non-printable characters escaped (strconv.Quote). */
export function goQuote(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escape)}"`;
}

/** Quotes a text like Go's %+q, with all non-ASCII characters escaped (strconv.QuoteToASCII). */
export function goQuoteAscii(text: string): string {
  return `"${text.replace(/["\\]|[^ -~]/gu, escape)}"`;
}

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = (digits: number): string => code.toString(16).padStart(digits, '0');
  // A byte that is not UTF-8 (raw-arguments.ts).
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${(code - 0xdc00).toString(16)}`;
  if (code < 0x80) return ESCAPES[character] ?? `\\x${hex(2)}`;
  return code < 0x10000 ? `\\u${hex(4)}` : `\\U${hex(8)}`;
}
