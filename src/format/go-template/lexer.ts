import {goQuote} from '../go-quote.js';
/** Token types of Go's template language. `operator` is one of `= := | ,` and the like. */
export type TokenType =
  | 'text'
  | 'left-delimiter'
  | 'right-delimiter'
  | 'space'
  | 'keyword'
  | 'identifier'
  | 'field'
  | 'variable'
  | 'dot'
  | 'nil'
  | 'bool'
  | 'number'
  | 'char-constant'
  | 'string'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'left-paren'
  | 'right-paren'
  | 'char'
  | 'error'
  | 'eof';

export interface Token {
  readonly type: TokenType;
  readonly value: string;
  /** Offset of the token in the template. */
  readonly position: number;
  /** Line of the token's start, from 1. */
  readonly line: number;
}

const KEYWORDS = new Set([
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'range',
  'template',
  'with',
]);

const LEFT = '{{';
const RIGHT = '}}';
const SPACES = /[ \t\r\n]*/y;
const WORD = /[_\p{L}\p{Nd}]+/uy;
const NUMBER =
  /[+-]?(?:0[xX][\da-fA-F_]*(?:\.[\da-fA-F_]*)?(?:[pP][+-]?[\d_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[\d_]*(?:\.[\d_]*)?(?:[eE][+-]?[\d_]*)?)i?/y;
const QUOTED = {'"': /"(?:[^"\\\n]|\\[^\n])*"/y, "'": /'(?:[^'\\\n]|\\[^\n])*'/y, '`': /`[^`]*`/y} as const;
const UNTERMINATED = {
  '"': 'unterminated quoted string',
  "'": 'unterminated character constant',
  '`': 'unterminated raw quoted string',
} as const;
const SINGLE: Readonly<Record<string, TokenType>> = {
  '=': 'assign',
  '|': 'pipe',
  '(': 'left-paren',
  ')': 'right-paren',
};

/** Returns the tokens of a template. The last one is `eof`, or `error` with Go's message. */
export function tokenizeTemplate(text: string): readonly Token[] {
  return new Lexer(text).tokens();
}

/** Error thrown internally to end the scan. */
class ScanEnded extends Error {}

class Lexer {
  readonly #text: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  #line = 1;
  #parens = 0;

  constructor(text: string) {
    this.#text = text;
  }

  tokens(): readonly Token[] {
    try {
      while (this.#position < this.#text.length) this.#scan();
      this.#push('eof', 'EOF');
    } catch (error) {
      if (!(error instanceof ScanEnded)) throw error;
    }
    return this.#tokens;
  }

  /** Scans a text and the following action. */
  #scan(): void {
    const found = this.#text.indexOf(LEFT, this.#position);
    const end = found < 0 ? this.#text.length : found;
    const text = this.#text.slice(this.#position, end);
    const trimmed =
      found >= 0 && this.#trimsLeft(found + LEFT.length) ? text.replace(/[ \t\r\n]+$/, '') : text;
    if (trimmed !== '') this.#push('text', trimmed);
    this.#moveTo(end);
    if (found >= 0) this.#action();
  }

  #action(): void {
    const inner = this.#position + LEFT.length + (this.#trimsLeft(this.#position + LEFT.length) ? 2 : 0);
    if (this.#text.startsWith('/*', inner)) {
      this.#moveTo(inner);
      this.#comment();
      return;
    }
    this.#push('left-delimiter', LEFT);
    this.#moveTo(inner);
    this.#parens = 0;
    while (!this.#closes()) this.#word();
    if (this.#parens > 0) this.#fail('unclosed left paren');
    this.#close();
  }

  #comment(): void {
    const end = this.#text.indexOf('*/', this.#position + 2);
    if (end < 0) this.#fail('unclosed comment');
    const commentEnd = end + 2;
    const trims = this.#trimsRight(commentEnd);
    if (!trims && !this.#text.startsWith(RIGHT, commentEnd))
      this.#fail('comment ends before closing delimiter');
    this.#moveTo(commentEnd + (trims ? 2 : 0) + RIGHT.length);
    if (trims) this.#skipSpaces();
  }

  /** Reports whether an action starts with `{{- `, which trims the spaces before it. */
  #trimsLeft(at: number): boolean {
    return /^-[ \t\r\n]/.test(this.#text.slice(at, at + 2));
  }

  /** Reports whether an action ends with ` -}}`, which trims the spaces after it. */
  #trimsRight(at: number): boolean {
    return /^[ \t\r\n]-}}/.test(this.#text.slice(at, at + 4));
  }

  #closes(): boolean {
    return this.#trimsRight(this.#position) || this.#text.startsWith(RIGHT, this.#position);
  }

  #close(): void {
    const trims = this.#trimsRight(this.#position);
    if (trims) this.#moveTo(this.#position + 2);
    this.#push('right-delimiter', RIGHT);
    this.#moveTo(this.#position + RIGHT.length);
    if (trims) this.#skipSpaces();
  }

  #skipSpaces(): void {
    this.#moveTo(this.#position + this.#match(SPACES).length);
  }

  /** Scans one token inside an action. */
  #word(): void {
    if (this.#position >= this.#text.length) this.#fail('unclosed action');
    const char = String.fromCodePoint(this.#text.codePointAt(this.#position) ?? 0);
    if (/[ \t\r\n]/.test(char)) this.#space();
    else if (char === ':') this.#declare();
    else if (isQuote(char)) this.#quoted(char);
    else if (char === '$') this.#named('variable');
    else if (char === '.' && this.#startsField()) this.#named('field');
    else if (/[.+\-\d]/.test(char)) this.#number();
    else if (/[_\p{L}\p{Nd}]/u.test(char)) this.#identifier();
    else this.#single(char);
  }

  /** Reports whether a dot begins a field or stands alone. At the end of the text it begins a number. */
  #startsField(): boolean {
    return /\D/s.test(this.#text.charAt(this.#position + 1));
  }

  /** Scans spaces, except the one of ` -}}`. */
  #space(): void {
    const run = this.#match(SPACES);
    const length = this.#trimsRight(this.#position + run.length - 1) ? run.length - 1 : run.length;
    this.#take('space', run.slice(0, length));
  }

  #declare(): void {
    if (this.#text.charAt(this.#position + 1) !== '=') this.#fail('expected :=');
    this.#take('declare', ':=');
  }

  #quoted(quote: keyof typeof QUOTED): void {
    const value = this.#match(QUOTED[quote]);
    if (value === '') this.#fail(UNTERMINATED[quote]);
    this.#take(quote === "'" ? 'char-constant' : 'string', value);
  }

  /** Scans `.name`, `$name`, or the sign alone. */
  #named(type: 'field' | 'variable'): void {
    const name = this.#match(WORD, this.#position + 1);
    this.#checkEnd(this.#position + 1 + name.length);
    const value = this.#text.charAt(this.#position) + name;
    this.#take(type === 'field' && name === '' ? 'dot' : type, value);
  }

  #number(): void {
    const value = this.#match(NUMBER);
    const next = this.#match(WORD, this.#position + value.length);
    if (value === '' || next !== '' || /^[+-]$/.test(value))
      this.#fail(`bad number syntax: ${goQuote(value + next.charAt(0))}`);
    this.#take('number', value);
  }

  #identifier(): void {
    const word = this.#match(WORD);
    this.#checkEnd(this.#position + word.length);
    this.#take(typeOfWord(word), word);
  }

  #single(char: string): void {
    if (char === '(') this.#parens += 1;
    if (char === ')' && (this.#parens -= 1) < 0) this.#fail('unexpected right paren');
    if (!/^[!-~]$/.test(char)) this.#fail(`unrecognized character in action: ${codePoint(char)}`);
    this.#take(SINGLE[char] ?? 'char', char);
  }

  /** Checks that a name is followed by a space, an operator or the end of the action. */
  #checkEnd(at: number): void {
    const rest = this.#text.slice(at, at + 2);
    if (rest === '' || rest === RIGHT || /^[ \t\r\n.,|:()]/.test(rest)) return;
    this.#fail(`bad character ${codePoint(String.fromCodePoint(this.#text.codePointAt(at) ?? 0))}`);
  }

  #match(pattern: RegExp, at = this.#position): string {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }

  #push(type: TokenType, value: string): void {
    this.#tokens.push({type, value, position: this.#position, line: this.#line});
  }

  #take(type: TokenType, value: string): void {
    this.#push(type, value);
    this.#moveTo(this.#position + value.length);
  }

  #moveTo(position: number): void {
    this.#line += this.#text.slice(this.#position, position).split('\n').length - 1;
    this.#position = position;
  }

  #fail(message: string): never {
    this.#push('error', message);
    throw new ScanEnded();
  }
}

function isQuote(char: string): char is keyof typeof QUOTED {
  return Object.hasOwn(QUOTED, char);
}

function typeOfWord(word: string): TokenType {
  if (word === 'true' || word === 'false') return 'bool';
  if (word === 'nil') return 'nil';
  return KEYWORDS.has(word) ? 'keyword' : 'identifier';
}

/** Formats a character like Go's `%#U`. */
function codePoint(char: string): string {
  const digits = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return /^[\p{C}\p{Z}]$/u.test(char) && char !== ' ' ? `U+${digits}` : `U+${digits} '${char}'`;
}
