import {byKey} from '../../base/compare.js';
import {formatGoFloat} from '../go-float.js';
import {goQuote, goQuoteAscii} from '../go-quote.js';
import {isJsonList} from '../json.js';
import {formatExponential, formatFixed, formatGeneral} from '../decimal.js';
import {GoNumber, kindOf, typeName, valueText, type Value} from './values.js';

/** Flags, width and precision between `%` and the verb. */
interface Spec {
  readonly verb: string;
  readonly flags: string;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

/**
 * Formats like Go's fmt.Sprintf: verbs v s q d x X o b c U e f g t T with flags, width, precision, `*` and `[n]`.
 * Errors appear in the text as in Go, `%!d(string=x)`.
 */
export function sprintf(format: string, args: readonly Value[]): string {
  return new Formatter(format, args).text();
}

/** Groups of a directive: flags, index, width, index, precision, index, verb. */
type Groups = readonly (string | undefined)[];

const DIRECTIVE = /%([-+# 0]*)(?:\[(\d+)\])?(\*|\d+)?(?:\.(?:\[(\d+)\])?(\*|\d*))?(?:\[(\d+)\])?(.|\n|$)/gsu;

/** Maximum width and precision in Go. */
const MAX_MEASURE = 1_000_000;

/** Width or precision: `bad` for an invalid argument, `endless` if it is so long that Go stops parsing. */
type Measure = number | 'bad' | 'endless' | undefined;

class Formatter {
  readonly #format: string;
  readonly #args: readonly Value[];
  #next = 0;
  #reordered = false;

  constructor(format: string, args: readonly Value[]) {
    this.#format = format;
    this.#args = args;
  }

  text(): string {
    let text = '';
    let position = 0;
    for (const match of this.#format.matchAll(DIRECTIVE)) {
      const [whole, ...groups] = match;
      const shown = this.#directive(groups);
      text += this.#format.slice(position, match.index) + (shown ?? '%!(NOVERB)');
      position = shown === undefined ? this.#format.length : match.index + whole.length;
      if (shown === undefined) break;
    }
    return text + this.#format.slice(position) + this.#extra();
  }

  /** Formats a directive. Returns undefined if it has no verb, or if its width or precision is too long. */
  #directive([flags = '', index, width, precisionIndex, precision, lateIndex, verb = '']: Groups):
    | string
    | undefined {
    this.#jump(index);
    const givenWidth = this.#measure(width);
    if (givenWidth === 'endless') return undefined;
    this.#jump(precisionIndex);
    const givenPrecision = precision === '' ? 0 : notNegative(this.#measure(precision));
    if (givenPrecision === 'endless') return undefined;
    this.#jump(lateIndex);
    if (verb === '') return undefined;
    const faults =
      (givenWidth === 'bad' ? '%!(BADWIDTH)' : '') + (givenPrecision === 'bad' ? '%!(BADPREC)' : '');
    if (verb === '%') return `${faults}%`;
    const how = spec(verb, flags, valid(givenWidth), valid(givenPrecision));
    return faults + (this.#missing(verb) ?? format(this.#args[this.#next++], how));
  }

  #missing(verb: string): string | undefined {
    if (this.#next >= 0 && this.#next < this.#args.length) return undefined;
    return `%!${verb}(${this.#reordered ? 'BADINDEX' : 'MISSING'})`;
  }

  #jump(index: string | undefined): void {
    if (index === undefined) return;
    const position = Number(index) - 1;
    this.#reordered = true;
    this.#next = position < this.#args.length ? position : -1;
  }

  #measure(text: string | undefined): Measure {
    if (text === undefined) return undefined;
    if (text !== '*') return Number(text.slice(0, -1)) > MAX_MEASURE ? 'endless' : Number(text);
    if (this.#next >= this.#args.length) return 'bad';
    const value = this.#args[this.#next++];
    if (!(value instanceof GoNumber) || value.type === 'float64') return 'bad';
    return Math.abs(Number(value.value)) > MAX_MEASURE ? 'bad' : Number(value.value);
  }

  #extra(): string {
    if (this.#reordered || this.#next >= this.#args.length) return '';
    const extra = this.#args.slice(this.#next).map(described);
    return `%!(EXTRA ${extra.join(', ')})`;
  }
}

function notNegative(measure: Measure): Measure {
  return typeof measure === 'number' && measure < 0 ? 'bad' : measure;
}

function valid(measure: number | 'bad' | undefined): number | undefined {
  return measure === 'bad' ? undefined : measure;
}

/** Returns a spec. A negative width means left alignment. */
function spec(verb: string, flags: string, width: number | undefined, precision: number | undefined): Spec {
  const left = width !== undefined && width < 0;
  return {
    verb,
    flags: left ? `${flags}-` : flags,
    width: width === undefined ? width : Math.abs(width),
    precision,
  };
}

/** Returns a value with its type, as in Go's format errors. */
function described(value: Value): string {
  return value === undefined || value === null ? '<nil>' : `${typeName(value)}=${valueText(value)}`;
}

function format(value: Value, spec: Spec): string {
  if (spec.verb === 'T') return pad(value === undefined || value === null ? '<nil>' : typeName(value), spec);
  if (value === undefined || value === null)
    return spec.verb === 'v' ? pad('<nil>', spec) : `%!${spec.verb}(<nil>)`;
  return formatInner(value, spec);
}

function formatInner(value: Value, spec: Spec): string {
  switch (kindOf(value)) {
    case 'none':
      return pad('<nil>', spec);
    case 'list':
      return formatList(value as readonly Value[], spec);
    case 'map':
      return formatMap(value as Readonly<Record<string, Value>>, spec);
    case 'bool':
      return 'vt'.includes(spec.verb) ? pad(valueText(value), spec) : bad(value, spec);
    case 'string':
    case 'number':
      return formatText(valueText(value), value, spec);
    case 'float':
      return formatFloat(Number((value as GoNumber).value), value, spec);
    default:
      return formatInteger(BigInt((value as GoNumber).value), value, spec);
  }
}

function formatList(items: readonly Value[], spec: Spec): string {
  if (!isJsonList(items as never)) return bad(items as Value, spec);
  return `[${items.map((item) => formatInner(item, spec)).join(' ')}]`;
}

function formatMap(map: Readonly<Record<string, Value>>, spec: Spec): string {
  const members = Object.entries(map)
    .sort(byKey)
    .map(([key, item]) => `${formatInner(key, spec)}:${formatInner(item, spec)}`);
  return `map[${members.join(' ')}]`;
}

function formatText(text: string, value: Value, spec: Spec): string {
  const {verb, flags, precision} = spec;
  const cut = precision === undefined ? text : characters(text).slice(0, precision).join('');
  switch (verb) {
    case 'v':
      return pad(flags.includes('#') ? goQuote(text) : cut, spec);
    case 's':
      return pad(cut, spec);
    case 'q':
      return pad(quoteText(cut, flags), spec);
    case 'x':
      return pad(hexText(text, spec), spec);
    case 'X':
      return pad(hexText(text, spec).toUpperCase(), spec);
    default:
      return bad(value, spec);
  }
}

function hexText(text: string, {flags, precision}: Spec): string {
  const bytes = [...Buffer.from(text).subarray(0, precision)];
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0'));
  const prefix = flags.includes('#') ? '0x' : '';
  return flags.includes(' ') ? digits.map((byte) => prefix + byte).join(' ') : prefix + digits.join('');
}

/** Returns the characters of a text as Go counts them: code points. */
function characters(text: string): readonly string[] {
  return Array.from(text);
}

function quoteText(text: string, flags: string): string {
  const raw = flags.includes('#') && !/[`\p{Cc}]/u.test(text.replaceAll('\t', ''));
  return raw ? `\`${text}\`` : flags.includes('+') ? goQuoteAscii(text) : goQuote(text);
}

const RADIX: Readonly<Record<string, number>> = {v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16};
const PREFIX: Readonly<Record<string, string>> = {b: '0b', o: '0', x: '0x', X: '0X'};

function formatInteger(number: bigint, value: Value, spec: Spec): string {
  const {verb, flags, precision} = spec;
  if (verb === 'c') return pad(character(number), spec);
  if (verb === 'q') return pad(`'${goQuote(character(number)).slice(1, -1)}'`, spec);
  if (verb === 'U') return pad(`U+${number.toString(16).toUpperCase().padStart(4, '0')}`, spec);
  const radix = RADIX[verb];
  if (radix === undefined) return bad(value, spec);
  const digits = (number < 0n ? -number : number).toString(radix);
  const prefix = verb === 'O' ? '0o' : flags.includes('#') ? (PREFIX[verb] ?? '') : '';
  const exact = digits.padStart(precision ?? 0, '0');
  return numeric(number < 0n, prefix, verb === 'X' ? exact.toUpperCase() : exact, spec);
}

function character(number: bigint): string {
  return number >= 0n && number <= 0x10ffffn ? String.fromCodePoint(Number(number)) : '\ufffd';
}

function formatFloat(number: number, value: Value, spec: Spec): string {
  const {verb, precision} = spec;
  const size = Math.abs(number);
  switch (verb) {
    case 'v':
    case 'g':
    case 'G':
      return numeric(number < 0, '', shortest(size, verb, precision), spec);
    case 'f':
    case 'F':
      return numeric(number < 0, '', formatFixed(size, precision ?? 6), spec);
    case 'e':
    case 'E':
      return numeric(number < 0, '', formatExponential(size, precision ?? 6, verb), spec);
    default:
      return bad(value, spec);
  }
}

function shortest(size: number, verb: string, precision: number | undefined): string {
  const letter = verb === 'G' ? 'E' : 'e';
  return precision === undefined
    ? formatGoFloat(size).replace('e', letter)
    : formatGeneral(size, precision, letter);
}

/** Formats a number with its sign, zero-padded after the sign if the flag is set. */
function numeric(negative: boolean, prefix: string, digits: string, spec: Spec): string {
  const {flags, width = 0, precision} = spec;
  const sign = negative ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  const head = sign + prefix;
  const zeros =
    flags.includes('0') && !flags.includes('-') && (precision === undefined || digits.includes('.'));
  return zeros
    ? head + digits.padStart(width - head.length, '0')
    : pad(head + digits, {...spec, flags: flags.replaceAll('0', '')});
}

function pad(text: string, {flags, width}: Spec): string {
  if (width === undefined) return text;
  const missing = width - characters(text).length;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  return (flags.includes('0') ? '0' : ' ').repeat(missing) + text;
}

function bad(value: Value, {verb}: Spec): string {
  return `%!${verb}(${described(value)})`;
}
