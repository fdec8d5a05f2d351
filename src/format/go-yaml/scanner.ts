import {Cursor, GoYamlFault} from './cursor.js';
import {scanBlock, scanPlain, scanQuoted} from './scan-scalar.js';
import {scanAnchor, scanDirective, scanTag} from './scan-tag.js';
import type {Indicator, Token, TokenContent} from './token.js';

/** A token that may turn out to be a key without `?`. */
interface SimpleKey {
  isPossible: boolean;
  /** True if it must be a key, because it begins a line of a map. */
  readonly isRequired: boolean;
  readonly token: number;
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** Maximum length of a key without `?`. */
const LONGEST_KEY = 1024;
/** Maximum depth of blocks and brackets. */
const DEEPEST = 10_000;

const FLOW_INDICATORS: Readonly<Record<string, Indicator>> = {
  '[': 'flow-sequence-start',
  '{': 'flow-mapping-start',
  ']': 'flow-sequence-end',
  '}': 'flow-mapping-end',
  ',': 'flow-entry',
};

/**
 * Makes tokens of a text as go-yaml does (scannerc.go), so that errors are found in the same order and on the same
 * lines. Its methods throw GoYamlFault.
 */
export class Scanner {
  readonly #cursor: Cursor;
  readonly #lookahead: number;
  readonly #queue: Token[] = [];
  /** Number of tokens taken from the queue. */
  #taken = 0;
  #indent = -1;
  readonly #indents: number[] = [];
  #flowLevel = 0;
  #isKeyAllowed = true;
  readonly #keys: SimpleKey[] = [this.#noKey(0)];
  /** Levels of the keys by the number of their token. */
  readonly #levels = new Map<number, number>();

  /** `lookahead` is the number of tokens that are scanned behind the next one: 0 in go-yaml 2, 2 in 3. */
  constructor(text: string, lookahead: number) {
    this.#cursor = new Cursor(text);
    this.#lookahead = lookahead;
  }

  /** Returns the next token without taking it. */
  peek(): Token {
    while (this.#queue.length <= this.#lookahead || this.#mayStartKey()) this.#fetch();
    const [next] = this.#queue;
    if (next === undefined) throw new Error('a scanned text has no token');
    return next;
  }

  /** Takes the next token, which peek has returned. */
  take(): void {
    this.#queue.shift();
    this.#taken++;
  }

  /** Reports whether the next token may turn out to be a key. */
  #mayStartKey(): boolean {
    const level = this.#levels.get(this.#taken);
    return level !== undefined && this.#isValid(this.#keys[level]);
  }

  #fetch(): void {
    const cursor = this.#cursor;
    const startLine = cursor.line;
    this.#skipToToken();
    this.#unroll(cursor.column, this.#lookahead > 0 ? startLine : cursor.line);
    if (cursor.isEnd()) this.#fetchEnd();
    else if (cursor.column === 0 && cursor.peek() === '%') {
      const {line} = cursor;
      this.#endBlocks();
      this.#push(scanDirective(cursor), line);
    } else if (cursor.isDocumentIndicator('---')) this.#fetchDocumentIndicator('document-start');
    else if (cursor.isDocumentIndicator('...')) this.#fetchDocumentIndicator('document-end');
    else if (!this.#fetchIndicator()) this.#fetchContent();
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      while (
        cursor.peek() === ' ' ||
        (cursor.peek() === '\t' && (this.#flowLevel > 0 || !this.#isKeyAllowed))
      )
        cursor.skip();
      if (cursor.peek() === '#') cursor.skipToBreak();
      if (!cursor.isBreak()) return;
      cursor.takeBreak();
      if (this.#flowLevel === 0) this.#isKeyAllowed = true;
    }
  }

  #fetchEnd(): void {
    const cursor = this.#cursor;
    if (cursor.column > 0) {
      cursor.column = 0;
      cursor.line++;
    }
    this.#endBlocks();
    this.#push({kind: 'stream-end'});
  }

  #fetchDocumentIndicator(kind: Indicator): void {
    this.#endBlocks();
    this.#pushIndicator(kind, 3);
  }

  #endBlocks(): void {
    this.#unroll(-1, this.#cursor.line);
    this.#removeKey();
    this.#isKeyAllowed = false;
  }

  /** Scans an indicator of collections, if there is one. */
  #fetchIndicator(): boolean {
    const cursor = this.#cursor;
    const char = cursor.peek();
    const flow = FLOW_INDICATORS[char];
    const isAlone = cursor.isBlankOrEnd(1);
    if (flow !== undefined) this.#fetchFlowIndicator(flow);
    else if (char === '-' && isAlone) this.#fetchBlockEntry();
    else if (char === '?' && (this.#flowLevel > 0 || isAlone)) this.#fetchKey();
    else if (char === ':' && (this.#flowLevel > 0 || isAlone)) this.#fetchValue();
    else return false;
    return true;
  }

  #fetchFlowIndicator(kind: Indicator): void {
    if (kind === 'flow-entry') {
      this.#removeKey();
      this.#isKeyAllowed = true;
    } else if (kind.endsWith('-start')) {
      this.#saveKey();
      this.#keys.push(this.#noKey(this.#nextToken()));
      this.#flowLevel++;
      if (this.#flowLevel > DEEPEST) this.#fail(`exceeded max depth of ${DEEPEST}`);
      this.#isKeyAllowed = true;
    } else {
      this.#removeKey();
      this.#decreaseFlowLevel();
      this.#isKeyAllowed = false;
    }
    this.#pushIndicator(kind);
  }

  #decreaseFlowLevel(): void {
    if (this.#flowLevel === 0) return;
    this.#flowLevel--;
    const key = this.#keys.pop();
    if (key !== undefined) this.#levels.delete(key.token);
  }

  #fetchBlockEntry(): void {
    if (this.#flowLevel === 0) {
      if (!this.#isKeyAllowed) this.#fail('block sequence entries are not allowed in this context');
      this.#roll('block-sequence-start');
    }
    this.#removeKey();
    this.#isKeyAllowed = true;
    this.#pushIndicator('block-entry');
  }

  #fetchKey(): void {
    if (this.#flowLevel === 0) {
      if (!this.#isKeyAllowed) this.#fail('mapping keys are not allowed in this context');
      this.#roll('block-mapping-start');
    }
    this.#removeKey();
    this.#isKeyAllowed = this.#flowLevel === 0;
    this.#pushIndicator('key');
  }

  #fetchValue(): void {
    const key = this.#keys.at(-1);
    if (key !== undefined && this.#isValid(key)) {
      this.#insert(key.token - this.#taken, {kind: 'key', line: key.line});
      this.#roll('block-mapping-start', key);
      key.isPossible = false;
      this.#levels.delete(key.token);
      this.#isKeyAllowed = false;
    } else {
      if (this.#flowLevel === 0) {
        if (!this.#isKeyAllowed) this.#fail('mapping values are not allowed in this context');
        this.#roll('block-mapping-start');
      }
      this.#isKeyAllowed = this.#flowLevel === 0;
    }
    this.#pushIndicator('value');
  }

  /** Scans an alias, an anchor, a tag or a scalar. */
  #fetchContent(): void {
    const cursor = this.#cursor;
    const {line} = cursor;
    const char = cursor.peek();
    const isBlock = (char === '|' || char === '>') && this.#flowLevel === 0;
    if (!isBlock && !/^[*&!'"]$/.test(char) && !this.#startsPlain())
      this.#fail('found character that cannot start any token');
    if (isBlock) this.#removeKey();
    else this.#saveKey();
    this.#isKeyAllowed = isBlock;
    this.#push(this.#scanContent(char, isBlock), line);
  }

  #scanContent(char: string, isBlock: boolean): TokenContent {
    const cursor = this.#cursor;
    if (char === '*' || char === '&') return scanAnchor(cursor);
    if (char === '!') return scanTag(cursor);
    if (isBlock) return {kind: 'scalar', value: scanBlock(cursor, {indent: this.#indent}), isPlain: false};
    if (char === '"' || char === "'") return {kind: 'scalar', value: scanQuoted(cursor), isPlain: false};
    const {value, endsLine} = scanPlain(cursor, {indent: this.#indent, isInFlow: this.#flowLevel > 0});
    if (endsLine) this.#isKeyAllowed = true;
    return {kind: 'scalar', value, isPlain: true};
  }

  #startsPlain(): boolean {
    const cursor = this.#cursor;
    const char = cursor.peek();
    if (char === '-') return !cursor.isBlank(1);
    if (char === '?' || char === ':') return this.#flowLevel === 0 && !cursor.isBlankOrEnd(1);
    return !cursor.isBlankOrEnd() && !/^[,[\]{}#&*!|>'"%@`]$/.test(char);
  }

  #fail(message: string, line = this.#cursor.line): never {
    throw new GoYamlFault('scanner', message, this.#cursor.line, line);
  }

  /** Adds a token that begins at the position, unless another line is given. */
  #push(content: TokenContent, line = this.#cursor.line): void {
    this.#queue.push({...content, line});
  }

  #pushIndicator(kind: Indicator, length = 1): void {
    this.#push({kind});
    this.#cursor.skip(length);
  }

  #insert(at: number, token: Token): void {
    if (at < 0) this.#queue.push(token);
    else this.#queue.splice(at, 0, token);
  }

  /** Begins a block at the position or at a key, if it is farther right than the enclosing one. */
  #roll(kind: Indicator, key?: SimpleKey): void {
    const {column, line} = key ?? this.#cursor;
    if (this.#flowLevel > 0 || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    if (this.#indents.length > DEEPEST)
      this.#fail(`exceeded max depth of ${DEEPEST}`, this.#keys.at(-1)?.line);
    this.#insert(key === undefined ? -1 : key.token - this.#taken, {kind, line});
  }

  /** Ends the blocks that are farther right than a column. */
  #unroll(column: number, line: number): void {
    while (this.#flowLevel === 0 && this.#indent > column) {
      this.#push({kind: 'block-end'}, line);
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #nextToken(): number {
    return this.#taken + this.#queue.length;
  }

  #noKey(token: number): SimpleKey {
    return {isPossible: false, isRequired: false, token, index: 0, line: 0, column: 0};
  }

  /** Notes that a key may begin at the position. */
  #saveKey(): void {
    if (!this.#isKeyAllowed) return;
    const {index, line, column} = this.#cursor;
    const isRequired = this.#flowLevel === 0 && this.#indent === column;
    this.#removeKey();
    const level = this.#keys.length - 1;
    this.#keys[level] = {isPossible: true, isRequired, token: this.#nextToken(), index, line, column};
    this.#levels.set(this.#nextToken(), level);
  }

  #removeKey(): void {
    const key = this.#keys.at(-1);
    if (key?.isPossible !== true) return;
    if (key.isRequired) this.#fail("could not find expected ':'", key.line);
    key.isPossible = false;
    this.#levels.delete(key.token);
  }

  /** Reports whether a key is still possible: on the same line and not too long. */
  #isValid(key: SimpleKey | undefined): boolean {
    if (key?.isPossible !== true) return false;
    const {index, line} = this.#cursor;
    if (key.line >= line && key.index + LONGEST_KEY >= index) return true;
    if (key.isRequired) this.#fail("could not find expected ':'", key.line);
    key.isPossible = false;
    return false;
  }
}
