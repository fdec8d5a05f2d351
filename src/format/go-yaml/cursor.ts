/** Stage of go-yaml that finds an error. They count lines differently. */
export type Stage = 'reader' | 'scanner' | 'parser' | 'other';

/** An error of go-yaml. Lines count from 0. */
export class GoYamlFault extends Error {
  readonly stage: Stage;
  /** Line of the problem, and of the node or token in which it is. */
  readonly line: number;
  readonly contextLine: number;

  constructor(stage: Stage, message: string, line = 0, contextLine = 0) {
    super(message);
    this.stage = stage;
    this.line = line;
    this.contextLine = contextLine;
  }
}

const BREAK = /^[\r\n\u0085\u2028\u2029]$/;
const NOT_ALLOWED = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
/** Number of bytes that go-yaml reads at a time. */
const CHUNK_BYTES = 512;

/** A position in a text, by characters. Lines and columns count from 0. */
export class Cursor {
  readonly #chars: readonly string[];
  /** Index from which on reading fails, because go-yaml checks as many characters as it reads. */
  readonly #failsAt: number;
  index = 0;
  line = 0;
  column = 0;

  constructor(text: string) {
    const content = text.replace(/^\ufeff/, '');
    this.#chars = Array.from(content);
    const bad = NOT_ALLOWED.exec(content);
    this.#failsAt = bad === null ? Infinity : startOfChunk(this.#chars, content.slice(0, bad.index));
  }

  /** Returns the character at a distance from the position; empty behind the end of the text. */
  peek(distance = 0): string {
    const at = this.index + distance;
    if (at >= this.#failsAt) throw new GoYamlFault('reader', 'control characters are not allowed');
    return this.#chars[at] ?? '';
  }

  /** Reports whether the text goes on with these characters. */
  startsWith(text: string): boolean {
    return Array.from(text).every((char, at) => this.peek(at) === char);
  }

  isEnd(distance = 0): boolean {
    return this.peek(distance) === '';
  }

  isBlank(distance = 0): boolean {
    const char = this.peek(distance);
    return char === ' ' || char === '\t';
  }

  isBreak(distance = 0): boolean {
    return BREAK.test(this.peek(distance));
  }

  isBreakOrEnd(distance = 0): boolean {
    return this.isEnd(distance) || this.isBreak(distance);
  }

  isBlankOrEnd(distance = 0): boolean {
    return this.isBlank(distance) || this.isBreakOrEnd(distance);
  }

  /** Reports whether the line begins with an indicator of three characters for the start or end of a document. */
  isDocumentIndicator(...indicators: readonly string[]): boolean {
    return (
      this.column === 0 && indicators.some((indicator) => this.startsWith(indicator)) && this.isBlankOrEnd(3)
    );
  }

  /** Moves on by characters, none of which is a line break. */
  skip(count = 1): void {
    this.index += count;
    this.column += count;
  }

  /** Returns a character and moves on. */
  take(): string {
    const char = this.peek();
    this.skip();
    return char;
  }

  /** Returns the characters that match, and moves on behind them. */
  takeWhile(matches: () => boolean): string {
    let text = '';
    while (matches()) text += this.take();
    return text;
  }

  /** Moves on to the end of the line. */
  skipToBreak(): void {
    while (!this.isBreakOrEnd()) this.skip();
  }

  /** Moves on behind a line break, if there is one, and returns what it means in a scalar. */
  takeBreak(): string {
    if (!this.isBreak()) return '';
    const char = this.peek();
    this.index += char === '\r' && this.peek(1) === '\n' ? 2 : 1;
    this.column = 0;
    this.line++;
    return char === '\u2028' || char === '\u2029' ? char : '\n';
  }
}

/** Returns the index of the first character of the chunk in which the character after these is. */
function startOfChunk(chars: readonly string[], before: string): number {
  let rest = Math.floor(Buffer.byteLength(before) / CHUNK_BYTES) * CHUNK_BYTES;
  let index = 0;
  for (; rest > 0; index++) rest -= Buffer.byteLength(chars[index] ?? '');
  return index;
}
