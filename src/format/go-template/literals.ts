import {goQuote} from '../go-quote.js';
import type {NumberConstant} from './nodes.js';

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

/** The text of a Go string or character literal, or undefined for wrong escapes. */
export function unquoteGo(literal: string): string | undefined {
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

/** `\xff` and `\377` are bytes, everything else is characters. */
function decodeEscape(match: RegExpMatchArray, quote: string): Buffer | undefined {
  const [, simple, byte, short, long, octal] = match;
  if (simple !== undefined)
    return isWrongQuote(simple, quote) ? undefined : Buffer.from(ESCAPES[simple] ?? simple);
  if (byte !== undefined) return Buffer.from([parseInt(byte, 16)]);
  if (octal !== undefined) return parseInt(octal, 8) > 255 ? undefined : Buffer.from([parseInt(octal, 8)]);
  return decodeCodePoint(parseInt(short ?? long ?? '', 16));
}

/** Only the quote that the literal is in is escaped. */
function isWrongQuote(char: string, quote: string): boolean {
  return (char === '"' || char === "'") && char !== quote;
}

function decodeCodePoint(code: number): Buffer | undefined {
  const valid = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return valid ? Buffer.from(String.fromCodePoint(code)) : undefined;
}

const MIN_INT = -(2n ** 63n);
const MAX_INT = 2n ** 63n - 1n;
const MAX_UINT = 2n ** 64n - 1n;

/** A number literal, or Go's words for why it is none. */
export function parseNumber(text: string): NumberConstant | string {
  const int = parseInteger(text);
  const looksFloat = /[.eEpP]/.test(text) && !/^[+-]?0[xX][^pP]*$/.test(text);
  if (int !== undefined && int >= MIN_INT && int <= MAX_INT)
    return looksFloat ? {type: 'float64', value: Number(int)} : {type: 'int', value: int};
  if (int !== undefined && int <= MAX_UINT && int > 0n) return `${text} overflows int`;
  if (int !== undefined) return `integer overflow: ${goQuote(text)}`;
  const float = parseFloat64(text);
  return float === undefined ? `illegal number syntax: ${goQuote(text)}` : {type: 'float64', value: float};
}

/** Go's integer literals: `12`, `-0x1f`, `0b101`, `017`, `1_000`. */
function parseInteger(text: string): bigint | undefined {
  const [, sign = '', digits = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (!/^(0[xX](_?[\da-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+|0(_?[0-7])*|[1-9](_?\d)*)$/.test(digits))
    return undefined;
  const plain = digits.replaceAll('_', '');
  const value = BigInt(/^0\d/.test(plain) ? `0o${plain.slice(1)}` : plain);
  return sign === '-' ? -value : value;
}

function parseFloat64(text: string): number | undefined {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
