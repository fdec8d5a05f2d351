import {TemplateError} from '../template-error.js';
import {goUnquote} from '../go-unquote.js';
import type {Bound, Part, Step} from './nodes.js';

/** Pattern of characters that end a name in a path. */
const TERMINATOR = /[ \t\r\n.,[\]$@{}]/;

/** Maximum nesting of ranges: enough in practice, and safe for the stack. */
const MAX_RANGES = 1000;

/** Parses a JSONPath template in kubectl's dialect. Throws TemplateError with kubectl's message. */
export function parseJsonPath(text: string): readonly Part[] {
  return nest(topLevel(text));
}

type FlatPart = Exclude<Part, {kind: 'range'}>;

/** Splits a template into texts and actions. */
function topLevel(text: string): FlatPart[] {
  const parts: FlatPart[] = [];
  let position = 0;
  while (position < text.length) {
    const open = text.indexOf('{', position);
    const end = open < 0 ? text.length : open;
    if (end > position) parts.push({kind: 'text', text: text.slice(position, end)});
    if (open < 0) break;
    const parser = new PathParser(text, open + 1);
    parts.push({kind: 'path', steps: parser.steps()});
    position = parser.position;
  }
  return parts;
}

/** Moves the parts between `{range …}` and its `{end}` into the range. */
function nest(flat: readonly FlatPart[]): readonly Part[] {
  const remaining = [...flat];
  const [parts, ended] = block(remaining);
  if (ended) throw new TemplateError('not in range, nothing to end');
  return parts;
}

function block(remaining: FlatPart[], depth = 0): [readonly Part[], boolean] {
  const parts: Part[] = [];
  for (let part = remaining.shift(); part !== undefined; part = remaining.shift()) {
    const [first, ...steps] = part.kind === 'path' ? part.steps : [];
    if (first?.kind !== 'identifier') parts.push(part);
    else if (first.name === 'end') return [parts, true];
    else if (first.name === 'range') parts.push(range(steps, remaining, depth + 1));
    else throw new TemplateError(`unrecognized identifier ${first.name}`);
  }
  return [parts, false];
}

function range(steps: readonly Step[], remaining: FlatPart[], depth: number): Part {
  if (depth > MAX_RANGES) throw new TemplateError(`ranges are nested too deeply (more than ${MAX_RANGES})`);
  const [parts, ended] = block(remaining, depth);
  if (!ended) throw new TemplateError('range without end');
  return {kind: 'range', steps, parts};
}

/** Parser of the steps between braces, or of a path inside brackets, which ends with the text. */
class PathParser {
  position: number;
  readonly #text: string;
  readonly #inner: boolean;
  readonly #steps: Step[] = [];

  constructor(text: string, position = 0, {inner = false} = {}) {
    this.#text = text;
    this.position = position;
    this.#inner = inner;
  }

  steps(): readonly Step[] {
    while (!this.#closes()) this.#step();
    this.position += 1;
    return this.#steps;
  }

  #closes(): boolean {
    if (this.#text.startsWith('}', this.position)) return true;
    if (this.position < this.#text.length) return false;
    if (this.#inner) return true;
    throw new TemplateError('unclosed action');
  }

  #step(): void {
    const char = this.#text.charAt(this.position);
    if (this.#text.startsWith('[?(', this.position)) this.#filter();
    else if (this.#text.startsWith('..', this.position)) this.#descent();
    else if (char === '[') this.#brackets();
    else if (char === '.') this.#field(1);
    else if (char === '"' || char === "'") this.#quoted(char);
    else if (/[ @$]/.test(char)) this.position += 1;
    else if (/[-+\d]/.test(char)) this.#number();
    else if (/[_\p{L}]/u.test(char)) this.#identifier();
    else this.#unexpected();
  }

  #unexpected(): never {
    const char = String.fromCodePoint(this.#text.codePointAt(this.position) ?? 0);
    if (/[\r\n]/.test(char)) throw new TemplateError('unclosed action');
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    throw new TemplateError(`unrecognized character in action: U+${code} '${char}'`);
  }

  #descent(): void {
    if (this.#steps.at(-1)?.kind === 'descent') throw new TemplateError('invalid multiple recursive descent');
    this.#steps.push({kind: 'descent'});
    this.position += 2;
    if (/[_\p{L}\d]/u.test(this.#text.charAt(this.position))) this.#field(0);
  }

  /** Parses a name up to a terminator; a backslash escapes the next character. */
  #field(skip: number): void {
    const start = this.position + skip;
    let end = start;
    while (end < this.#text.length && !TERMINATOR.test(this.#text.charAt(end)))
      end += this.#text.charAt(end) === '\\' ? 2 : 1;
    const name = this.#text.slice(start, end);
    this.position = Math.min(end, this.#text.length);
    this.#steps.push(name === '*' ? {kind: 'wildcard'} : {kind: 'field', name: name.replaceAll('\\', '')});
  }

  #identifier(): void {
    const start = this.position;
    while (this.position < this.#text.length && !TERMINATOR.test(this.#text.charAt(this.position)))
      this.position += 1;
    const name = this.#text.slice(start, this.position);
    if (name === 'true' || name === 'false') this.#steps.push({kind: 'literal', value: name === 'true'});
    else this.#steps.push({kind: 'identifier', name});
  }

  #number(): void {
    const [text = ''] = /^[-+]?[\d.]*/.exec(this.#text.slice(this.position)) ?? [];
    if (!/^[-+]?(\d+\.?\d*|\.\d+)$/.test(text)) throw new TemplateError(`cannot parse number ${text}`);
    this.position += text.length;
    this.#steps.push({kind: 'literal', value: Number(text)});
  }

  #quoted(quote: string): void {
    const end = this.#closingQuote(quote);
    const literal = this.#text.slice(this.position, end + 1);
    const text = goUnquote(literal);
    if (text === undefined) throw new TemplateError(`unquote string ${literal} error invalid syntax`);
    this.position = end + 1;
    this.#steps.push({kind: 'text', text});
  }

  #closingQuote(quote: string): number {
    for (let at = this.position + 1; at < this.#text.length; at += 1) {
      const char = this.#text.charAt(at);
      if (char === '\n') break;
      if (char === quote && this.#text.charAt(at - 1) !== '\\') return at;
    }
    throw new TemplateError('unterminated quoted string');
  }

  #brackets(): void {
    const end = this.#text.indexOf(']', this.position);
    const inner = end < 0 ? '\n' : this.#text.slice(this.position + 1, end);
    if (inner.includes('\n')) throw new TemplateError('unterminated array');
    this.position = end + 1;
    const items = inner.split(',');
    if (items.length === 1) this.#steps.push(bracketStep(inner));
    else
      this.#steps.push({
        kind: 'union',
        paths: items.map((item) => [bracketStep(item.replace(/^ +| +$/g, ''))]),
      });
  }

  #filter(): void {
    const start = this.position + 3;
    const end = this.#filterEnd(start);
    if (this.#text.charAt(end + 1) !== ']') throw new TemplateError('unclosed array expect ]');
    const inner = this.#text.slice(start, end);
    const [, left = inner, operator, right = ''] = /^([^!<>=]+)([!<>=]+)(.+?)$/s.exec(inner) ?? [];
    if (operator !== undefined && !/^(==|!=|<=?|>=?)$/.test(operator))
      throw new TemplateError(`unrecognized filter operator ${operator}`);
    this.position = end + 2;
    this.#steps.push({kind: 'filter', left: innerPath(left), operator, right: innerPath(right)});
  }

  /** Returns the offset of the parenthesis that ends a filter, ignoring quoted ones. */
  #filterEnd(start: number): number {
    let quote = '';
    for (let at = start; at < this.#text.length; at += 1) {
      const char = this.#text.charAt(at);
      if (char === '\n') break;
      if (quote === '' && char === ')') return at;
      if (quote === '' && /["']/.test(char)) quote = char;
      else if (char === quote && this.#text.charAt(at - 1) !== '\\') quote = '';
    }
    throw new TemplateError('unterminated filter');
  }
}

function innerPath(text: string): readonly Step[] {
  return new PathParser(text, 0, {inner: true}).steps();
}

/** Parses an item in brackets: `*`, `'key'`, `2`, `-1`, `1:3`, `::2`. */
function bracketStep(text: string): Step {
  const [, key] = /^'([^']*)'$/.exec(text) ?? [];
  if (key !== undefined) return {kind: 'key', key, path: innerPath(`.${key}`)};
  if (text === '*') return {kind: 'slice', from: undefined, to: undefined, step: undefined};
  if (/^-?\d+$/.test(text)) return {kind: 'index', index: Number(text)};
  const [, from, to, step] = /^(-?\d*):(-?\d*)(?::(-?\d*))?$/.exec(text) ?? [];
  if (from === undefined) throw new TemplateError(`invalid array index ${text}`);
  return {kind: 'slice', from: bound(from), to: bound(to), step: bound(step)};
}

function bound(text: string | undefined): Bound {
  if (text === undefined || text === '') return undefined;
  if (!/\d/.test(text)) throw new TemplateError(`array index ${text} is not a number`);
  return Number(text);
}
