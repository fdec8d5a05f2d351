import {formatCompactJson, memberOf, type Json, type JsonObject} from '../json.js';
import {compare, equal} from './compare-values.js';
import {sprintf} from './printf.js';
import {
  boxed,
  GoNumber,
  goInt,
  isTrue,
  kindOf,
  plain,
  typeName,
  valueText,
  type Cell,
  type Value,
} from './values.js';

/** Type of a parameter: strings only, any value, or any value with its cell. */
export type Parameter = 'string' | 'any' | 'cell';

/** Function of a template. Throws CallError where Go's function returns an error. */
export interface TemplateFunction {
  readonly parameters: readonly Parameter[];
  /** Type of further arguments; undefined if the function takes none. */
  readonly rest?: Parameter;
  /** `callee` returns the source text of the first argument. */
  readonly call: (args: readonly Cell[], callee: () => string) => Value;
}

/** Error of a function caused by its arguments. */
export class CallError extends Error {}

const COMPARISONS: Readonly<Record<string, (order: number) => boolean>> = {
  lt: (order) => order < 0,
  le: (order) => order <= 0,
  gt: (order) => order > 0,
  ge: (order) => order >= 0,
};

/** Go's functions and crictl's: json, title, lower, upper. `and` and `or` are implemented by the evaluator. */
export const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  and: {parameters: ['cell'], rest: 'cell', call: ([first]) => first?.value},
  or: {parameters: ['cell'], rest: 'cell', call: ([first]) => first?.value},
  call: {parameters: ['cell'], rest: 'cell', call: ([callee], name) => called(callee, name)},
  not: {parameters: ['cell'], call: ([cell]) => !isTrue(cell?.value)},
  len: {parameters: ['cell'], call: ([cell]) => goInt(length(cell))},
  index: {parameters: ['cell'], rest: 'cell', call: ([item, ...indexes]) => indexed(item, indexes)},
  slice: {parameters: ['cell'], rest: 'cell', call: ([item, ...indexes]) => sliced(item, indexes)},
  print: {parameters: [], rest: 'any', call: (args) => print(values(args))},
  println: {parameters: [], rest: 'any', call: (args) => `${values(args).map(valueText).join(' ')}\n`},
  printf: {
    parameters: ['string'],
    rest: 'any',
    call: ([format, ...args]) => sprintf(valueText(format?.value), values(args)),
  },
  html: {parameters: [], rest: 'any', call: (args) => escapeHtml(print(values(args)))},
  js: {parameters: [], rest: 'any', call: (args) => escapeJs(print(values(args)))},
  urlquery: {parameters: [], rest: 'any', call: (args) => escapeQuery(print(values(args)))},
  json: {parameters: ['any'], call: ([cell]) => `${formatCompactJson(jsonOf(cell?.value))}\n`},
  title: {parameters: ['string'], call: ([text]) => title(valueText(text?.value))},
  lower: {parameters: ['string'], call: ([text]) => valueText(text?.value).toLowerCase()},
  upper: {parameters: ['string'], call: ([text]) => valueText(text?.value).toUpperCase()},
  eq: {parameters: ['cell'], rest: 'cell', call: ([first, ...others]) => isEqual(first, others)},
  ne: {parameters: ['cell', 'cell'], call: ([first, ...others]) => !isEqual(first, others)},
  ...Object.fromEntries(
    Object.entries(COMPARISONS).map(([name, holds]): [string, TemplateFunction] => [
      name,
      {parameters: ['cell', 'cell'], call: ([a, b]) => holds(order(a, b))},
    ]),
  ),
};

/** Fails as Go's `call` does, since no value of JSON is a function. */
function called(callee: Cell | undefined, name: () => string): never {
  const value = callee?.value;
  throw new CallError(
    kindOf(value) === 'none' ? 'call of nil' : `non-function ${name()} of type ${typeName(value)}`,
  );
}

function values(cells: readonly Cell[]): readonly Value[] {
  return cells.map(({value}) => value);
}

function isEqual(first: Cell | undefined, others: readonly Cell[]): boolean {
  if (others.length === 0) throw new CallError('missing argument for comparison');
  return others.some(({value}) => checked(equal(first?.value, value)));
}

function order(a: Cell | undefined, b: Cell | undefined): number {
  return checked(compare(a?.value, b?.value));
}

function checked<T>(result: T | {readonly fault: string}): T {
  if (typeof result === 'object' && result !== null && 'fault' in result) throw new CallError(result.fault);
  return result;
}

function length(cell: Cell | undefined): number {
  const value = cell?.value;
  switch (kindOf(value)) {
    case 'none':
      throw new CallError(
        cell?.boxed === true ? 'len of nil pointer' : 'reflect: call of reflect.Value.Type on zero Value',
      );
    case 'list':
      return (value as readonly Json[]).length;
    case 'map':
      return Object.keys(value as object).length;
    case 'string':
    case 'number':
      return Buffer.byteLength(valueText(value));
    default:
      throw new CallError(`len of type ${typeName(value)}`);
  }
}

function indexed(item: Cell | undefined, indexes: readonly Cell[]): Value {
  if (kindOf(item?.value) === 'none') throw new CallError('index of untyped nil');
  return indexes.reduce<Cell>((found, index) => member(found, index.value), item ?? plain(undefined)).value;
}

function member({value}: Cell, index: Value): Cell {
  switch (kindOf(value)) {
    case 'none':
      throw new CallError('index of nil pointer');
    case 'map':
      return boxed(memberOf(value as JsonObject, mapKey(index)) ?? null);
    case 'list': {
      const list = value as readonly Json[];
      return boxed(list[element(index, list.length, 'slice')] ?? null);
    }
    case 'string':
    case 'number': {
      const bytes = Buffer.from(valueText(value));
      const at = element(index, bytes.length, 'string');
      return plain(new GoNumber('uint8', bytes[at] ?? 0));
    }
    default:
      throw new CallError(`can't index item of type ${typeName(value)}`);
  }
}

function mapKey(index: Value): string {
  if (kindOf(index) === 'none') throw new CallError('value is nil; should be of type string');
  if (typeof index !== 'string') throw new CallError(`value has type ${typeName(index)}; should be string`);
  return index;
}

/** Returns the index of a list or string. Go's template package accepts its length, and Go's reflection does not. */
function element(index: Value, length: number, kind: 'slice' | 'string'): number {
  const at = position(index, length);
  if (at === length) throw new CallError(`reflect: ${kind} index out of range`);
  return at;
}

/** Returns an index as a number between 0 and `last`. */
function position(index: Value, last: number): number {
  const kind = kindOf(index);
  if (kind === 'none') throw new CallError('cannot index slice/array with nil');
  if (kind !== 'int' && kind !== 'uint')
    throw new CallError(`cannot index slice/array with type ${typeName(index)}`);
  const at = Number((index as GoNumber).value);
  if (at < 0 || at > last) throw new CallError(`index out of range: ${at}`);
  return at;
}

function sliced(item: Cell | undefined, indexes: readonly Cell[]): Value {
  const value = item?.value;
  const text = isText(value);
  checkSliced(value, indexes.length);
  const whole = text ? Buffer.from(valueText(value)) : (value as readonly Json[]);
  const positions = indexes.map((index) => position(index.value, whole.length));
  const [from = 0, to = whole.length, capacity = whole.length] = positions;
  if (from > to) throw new CallError(`invalid slice index: ${from} > ${to}`);
  if (to > capacity) throw new CallError(`invalid slice index: ${to} > ${capacity}`);
  return Buffer.isBuffer(whole) ? whole.subarray(from, to).toString() : whole.slice(from, to);
}

function checkSliced(value: Value, indexes: number): void {
  const kind = kindOf(value);
  if (kind === 'none') throw new CallError('slice of untyped nil');
  if (indexes > 3) throw new CallError(`too many slice indexes: ${indexes}`);
  if (isText(value) && indexes === 3) throw new CallError('cannot 3-index slice a string');
  if (!isText(value) && kind !== 'list') throw new CallError(`can't slice item of type ${typeName(value)}`);
}

/** Formats values like Go's Sprint: with spaces only between two operands that are both not strings. */
function print(args: readonly Value[]): string {
  return args
    .map((value, index) => {
      const apart = index > 0 && !isText(value) && !isText(args[index - 1]);
      return (apart ? ' ' : '') + valueText(value);
    })
    .join('');
}

/** Reports whether Go sees a value as a string, which includes json.Number. */
function isText(value: Value): boolean {
  return ['string', 'number'].includes(kindOf(value));
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\ufffd',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

function escapeHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, (char) => HTML[char] ?? char);
}

function escapeJs(text: string): string {
  return text.replace(/[\\'"<>&=]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (char) => {
    if (char === '\\' || char === "'" || char === '"') return `\\${char}`;
    return `\\u${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

/** Escapes like Go's url.QueryEscape. */
function escapeQuery(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}

/** Converts the first letter of each word to title case, with Unicode word boundaries. */
function title(text: string): string {
  const words = new Intl.Segmenter(undefined, {granularity: 'word'}).segment(text);
  return [...words].map(({segment}) => segment.replace(/\p{L}/u, (letter) => letter.toUpperCase())).join('');
}

/** Returns a value as JSON; an invalid value is null. */
export function jsonOf(value: Value): Json {
  if (value === undefined) return null;
  return value instanceof GoNumber ? value.value : value;
}
