const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};
const ESCAPE = /\\(?:([abfnrtv\\'"])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.?))/gsu;

/** Returns the text of a Go string or character literal, or undefined for invalid escapes. */
export function goUnquote(literal: string): string | undefined {
  const quote = literal.charAt(0);
  const inner = literal.slice(1, -1);
  if (quote === '`') return inner.replaceAll('\r', '');
  const bytes: Buffer[] = [];
  let from = 0;
  for (const match of inner.matchAll(ESCAPE)) {
    const decoded = decodeEscape(match, quote);
    if (decoded === undefined) return undefined;
    bytes.push(Buffer.from(inner.slice(from, match.index)), decoded);
    from = match.index + match[0].length;
  }
  return Buffer.concat([...bytes, Buffer.from(inner.slice(from))]).toString();
}

/** Decodes an escape: `\xff` and `\377` are bytes, all others are characters. */
function decodeEscape(match: RegExpMatchArray, quote: string): Buffer | undefined {
  const [, simple, byte, short, long, octal] = match;
  if (simple !== undefined)
    return isWrongQuote(simple, quote) ? undefined : Buffer.from(ESCAPES[simple] ?? simple);
  if (byte !== undefined) return Buffer.from([parseInt(byte, 16)]);
  if (octal !== undefined) return parseInt(octal, 8) > 255 ? undefined : Buffer.from([parseInt(octal, 8)]);
  return decodeCodePoint(parseInt(short ?? long ?? '', 16));
}

/** Reports whether a quote is escaped that needs no escape in the literal. */
function isWrongQuote(char: string, quote: string): boolean {
  return (char === '"' || char === "'") && char !== quote;
}

function decodeCodePoint(code: number): Buffer | undefined {
  const valid = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return valid ? Buffer.from(String.fromCodePoint(code)) : undefined;
}
