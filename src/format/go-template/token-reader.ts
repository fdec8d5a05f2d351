import {goQuote} from '../go-quote.js';
import {TemplateError} from '../template-error.js';
import type {Token, TokenType} from './lexer.js';

/** Reads the tokens of a template one by one, and throws errors with Go's messages. */
export abstract class TokenReader {
  protected readonly name: string;
  readonly #tokens: readonly Token[];
  /** Index of the last peeked token; errors show its line. */
  #lastPeeked = 0;
  /** Index of the next token. */
  protected next = 0;
  /** Start line of the current action; 0 outside of actions. */
  protected actionLine = 0;

  constructor(name: string, tokens: readonly Token[]) {
    this.name = name;
    this.#tokens = tokens;
  }

  protected isKeyword(token: Token, keyword: string): boolean {
    return token.type === 'keyword' && token.value === keyword;
  }

  protected at(index: number): Token {
    const last = Math.min(index, this.#tokens.length - 1);
    this.#lastPeeked = Math.max(this.#lastPeeked, last);
    return this.#tokens[last] ?? {type: 'eof', value: 'EOF', position: 0, line: 1};
  }

  protected peek(): Token {
    return this.at(this.next);
  }

  protected take(): Token {
    const token = this.peek();
    this.next += 1;
    return token;
  }

  /** Returns the next token that is not a space, from `offset` tokens ahead. */
  protected afterSpaces(offset: number): Token {
    const index = this.next + offset;
    return this.at(this.at(index).type === 'space' ? index + 1 : index);
  }

  protected skipSpaces(): void {
    while (this.peek().type === 'space') this.next += 1;
  }

  protected peekWord(): Token {
    this.skipSpaces();
    return this.peek();
  }

  protected takeWord(): Token {
    this.skipSpaces();
    return this.take();
  }

  protected expect(type: TokenType, context: string): Token {
    const token = this.takeWord();
    return token.type === type ? token : this.unexpected(token, context);
  }

  protected unexpected(token: Token, context: string): never {
    if (token.type !== 'error') return this.fail(`unexpected ${tokenText(token)} in ${context}`);
    const elsewhere = this.actionLine !== 0 && this.actionLine !== token.line;
    const started = ` started at ${this.name}:${this.actionLine}`;
    const suffix = token.value.endsWith(' action') ? started : ` in action${started}`;
    return this.fail(token.value + (elsewhere ? suffix : ''));
  }

  protected fail(message: string): never {
    const line = this.#tokens[this.#lastPeeked]?.line ?? 1;
    throw new TemplateError(`template: ${this.name}:${line}: ${message}`);
  }
}

/** Formats a token as in Go's errors: keywords in brackets, long texts truncated. */
function tokenText({type, value}: Token): string {
  if (type === 'eof') return 'EOF';
  if (type === 'keyword' || type === 'dot' || type === 'nil') return `<${value}>`;
  return value.length > 10 ? `${goQuote(value.slice(0, 10))}...` : goQuote(value);
}
