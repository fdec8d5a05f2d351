import {GoYamlFault, type Cursor} from './cursor.js';

/** What the scanner knows where a scalar begins. */
export interface Surroundings {
  /** Column of the enclosing block; -1 outside of blocks. */
  readonly indent: number;
  readonly isInFlow: boolean;
}

/** Spaces and line breaks between two parts of a scalar. */
class Gap {
  #spaces = '';
  #firstBreak = '';
  #otherBreaks = '';
  /** True if the gap has a line break. */
  hasBreak = false;

  /** Takes the spaces and breaks at the position. `onTab` is called at tabs at the start of a line. */
  take(cursor: Cursor, onTab: () => void = () => undefined): void {
    while (cursor.isBlank() || cursor.isBreak()) {
      if (cursor.isBreak()) this.#takeBreak(cursor);
      else if (this.hasBreak) {
        if (cursor.peek() === '\t') onTab();
        cursor.skip();
      } else this.#spaces += cursor.take();
    }
  }

  #takeBreak(cursor: Cursor): void {
    if (this.hasBreak) this.#otherBreaks += cursor.takeBreak();
    else {
      this.#spaces = '';
      this.#firstBreak += cursor.takeBreak();
      this.hasBreak = true;
    }
  }

  /** Notes an escaped line break, which is no part of the text. */
  escapeBreak(cursor: Cursor): void {
    cursor.takeBreak();
    this.hasBreak = true;
  }

  /** Returns the text of the gap: one line break is a space, more are themselves without the first. */
  text(): string {
    if (!this.hasBreak) return this.#spaces;
    if (!this.#firstBreak.startsWith('\n')) return this.#firstBreak + this.#otherBreaks;
    return this.#otherBreaks === '' ? ' ' : this.#otherBreaks;
  }
}

/** Result of scanPlain. */
export interface PlainScalar {
  readonly value: string;
  /** True if line breaks follow the scalar. */
  readonly endsLine: boolean;
}

/** Scans a scalar without quotes. */
export function scanPlain(cursor: Cursor, {indent, isInFlow}: Surroundings): PlainScalar {
  const {line} = cursor;
  let value = '';
  let gap = new Gap();
  const onTab = (): void => {
    if (cursor.column <= indent)
      throw new GoYamlFault('scanner', 'found a tab character that violates indentation', cursor.line, line);
  };
  while (!cursor.isDocumentIndicator('---', '...') && cursor.peek() !== '#') {
    const part = cursor.takeWhile(() => !cursor.isBlankOrEnd() && !endsPlain(cursor, isInFlow));
    if (part !== '') {
      value += gap.text() + part;
      gap = new Gap();
    }
    if (!cursor.isBlank() && !cursor.isBreak()) break;
    gap.take(cursor, onTab);
    if (!isInFlow && cursor.column <= indent) break;
  }
  return {value, endsLine: gap.hasBreak};
}

function endsPlain(cursor: Cursor, isInFlow: boolean): boolean {
  if (cursor.peek() === ':' && cursor.isBlankOrEnd(1)) return true;
  return isInFlow && /^[,?[\]{}]$/.test(cursor.peek());
}

/** Scans a scalar in quotes. */
export function scanQuoted(cursor: Cursor): string {
  const {line} = cursor;
  const fail = (message: string): never => {
    throw new GoYamlFault('scanner', message, cursor.line, line);
  };
  const quote = cursor.take();
  let value = '';
  for (;;) {
    if (cursor.isDocumentIndicator('---', '...')) fail('found unexpected document indicator');
    if (cursor.isEnd()) fail('found unexpected end of stream');
    const gap = new Gap();
    while (!cursor.isBlankOrEnd()) {
      if (quote === "'" && cursor.startsWith("''")) {
        cursor.skip(2);
        value += quote;
      } else if (cursor.peek() === quote) break;
      else if (quote === '"' && cursor.peek() === '\\') {
        if (cursor.isBreak(1)) {
          cursor.skip();
          gap.escapeBreak(cursor);
          break;
        }
        value += scanEscape(cursor, fail);
      } else value += cursor.take();
    }
    if (cursor.peek() === quote) break;
    gap.take(cursor);
    value += gap.text();
  }
  cursor.skip();
  return value;
}

const ESCAPES: Readonly<Record<string, string>> = {
  0: '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1b',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  N: '\u0085',
  _: '\u00a0',
  L: '\u2028',
  P: '\u2029',
};
const CODE_LENGTHS: Readonly<Record<string, number>> = {x: 2, u: 4, U: 8};

function scanEscape(cursor: Cursor, fail: (message: string) => never): string {
  const char = cursor.peek(1);
  const simple = ESCAPES[char];
  const length = CODE_LENGTHS[char];
  if (simple === undefined && length === undefined) fail('found unknown escape character');
  cursor.skip(2);
  if (length === undefined) return simple ?? '';
  const digits = Array.from({length}, (_, at) => cursor.peek(at)).join('');
  if (!/^[\da-f]+$/i.test(digits) || digits.length < length) fail('did not find expected hexdecimal number');
  const code = Number.parseInt(digits, 16);
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff)
    fail('found invalid Unicode character escape code');
  cursor.skip(length);
  return String.fromCodePoint(code);
}

/** Scans a scalar that begins with `|` or `>`. */
export function scanBlock(cursor: Cursor, {indent: outer}: Pick<Surroundings, 'indent'>): string {
  const {line} = cursor;
  const fail = (message: string): never => {
    throw new GoYamlFault('scanner', message, cursor.line, line);
  };
  const isLiteral = cursor.take() === '|';
  const {chomping, increment} = scanBlockHeader(cursor, fail);
  let indent = increment > 0 ? Math.max(outer, 0) + increment : 0;
  const takeBreaks = (): string => {
    const found = scanIndentation(cursor, indent, fail);
    if (indent === 0) indent = Math.max(found.deepest, outer + 1, 1);
    return found.breaks;
  };
  let value = '';
  let breakBefore = '';
  let isAfterBlank = false;
  let breaks = takeBreaks();
  while (cursor.column === indent && !cursor.isEnd()) {
    const isBlank = cursor.isBlank();
    const isFolded = !isLiteral && !isAfterBlank && !isBlank && breakBefore === '\n';
    if (!isFolded) value += breakBefore;
    else if (breaks === '') value += ' ';
    value += breaks;
    isAfterBlank = isBlank;
    value += cursor.takeWhile(() => !cursor.isBreakOrEnd());
    breakBefore = cursor.takeBreak();
    breaks = takeBreaks();
  }
  if (chomping !== '-') value += breakBefore;
  return chomping === '+' ? value + breaks : value;
}

function scanBlockHeader(
  cursor: Cursor,
  fail: (message: string) => never,
): {readonly chomping: string; readonly increment: number} {
  const takeChomping = (): string => (/^[-+]$/.test(cursor.peek()) ? cursor.take() : '');
  const takeIncrement = (): number => {
    if (!/^\d$/.test(cursor.peek())) return 0;
    if (cursor.peek() === '0') fail('found an indentation indicator equal to 0');
    return Number(cursor.take());
  };
  const first = takeChomping();
  const increment = takeIncrement();
  const chomping = first === '' && increment > 0 ? takeChomping() : first;
  while (cursor.isBlank()) cursor.skip();
  if (cursor.peek() === '#') cursor.skipToBreak();
  if (!cursor.isBreakOrEnd()) fail('did not find expected comment or line break');
  cursor.takeBreak();
  return {chomping, increment};
}

/** Takes empty lines and the indentation of the next line of a block; `indent` is 0 until it is known. */
function scanIndentation(
  cursor: Cursor,
  indent: number,
  fail: (message: string) => never,
): {readonly breaks: string; readonly deepest: number} {
  let deepest = 0;
  let breaks = '';
  for (;;) {
    while ((indent === 0 || cursor.column < indent) && cursor.peek() === ' ') cursor.skip();
    deepest = Math.max(deepest, cursor.column);
    if ((indent === 0 || cursor.column < indent) && cursor.peek() === '\t')
      fail('found a tab character where an indentation space is expected');
    if (!cursor.isBreak()) return {breaks, deepest};
    breaks += cursor.takeBreak();
  }
}
