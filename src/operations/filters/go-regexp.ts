import {messageOf, UsageError} from '../../base/errors.js';

/**
 * Compiles a regular expression in Go's syntax (RE2), as crictl accepts it. Throws UsageError with Go's text.
 * JavaScript's extensions, such as `(?!…)`, are accepted too.
 */
export function compileGoRegexp(pattern: string): RegExp {
  const [, flags = '', body = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  const translation = new Translation(body).run();
  try {
    return new RegExp(translation, `u${flags}`);
  } catch (error) {
    throw new UsageError(`error parsing regexp: ${messageOf(error)}`, {cause: error});
  }
}

/** Matches the parts of Go's syntax that differ from JavaScript's. */
const PART =
  /\\Q(?<quoted>.*?)(?:\\E|$)|\\(?<escaped>p\{\^?\w+\}|[pP]\w|x\{[0-9a-fA-F]+\}|.)?|(?<group>\((?:\?(?:P<|<[=!]?|[:=!]))?)|(?<close>\))|(?<class>\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*(?<classEnd>\])?)|(?<repeat>[*+?]|\{\d+(?:,\d*)?\})\??|(?<lone>[{}\]])|./gsu;

/** Translates one pattern. */
class Translation {
  readonly #pattern: string;
  #depth = 0;
  /** Operand of a repetition operator. A repetition cannot be repeated. */
  #last: 'nothing' | 'something' | {readonly repeat: string} = 'nothing';

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  run(): string {
    const text = this.#pattern.replace(PART, (part: string, ...rest: readonly unknown[]) =>
      this.#part(part, rest.at(-1) as Groups),
    );
    if (this.#depth > 0) throw syntaxError('missing closing )', this.#pattern);
    return text;
  }

  #part(part: string, groups: Groups): string {
    if (groups.repeat !== undefined) return this.#repeat(part);
    this.#last = part === '|' || groups.group !== undefined ? 'nothing' : 'something';
    if (groups.quoted !== undefined) return literal(groups.quoted);
    if (part.startsWith('\\')) return escapeOf(part, groups.escaped);
    if (groups.group !== undefined) return this.#open(part);
    if (groups.close !== undefined) return this.#close(part);
    if (groups.class !== undefined) return classOf(part, groups.classEnd !== undefined);
    return groups.lone === undefined ? part : `\\${part}`;
  }

  #open(part: string): string {
    this.#depth += 1;
    return part.replace('?P<', '?<');
  }

  #close(part: string): string {
    this.#depth -= 1;
    if (this.#depth < 0) throw syntaxError('unexpected )', this.#pattern);
    return part;
  }

  #repeat(part: string): string {
    if (this.#last === 'nothing') throw syntaxError('missing argument to repetition operator', part);
    if (this.#last !== 'something')
      throw syntaxError('invalid nested repetition operator', this.#last.repeat + part);
    this.#last = {repeat: part};
    return part;
  }
}

type Groups = Readonly<
  Partial<Record<'quoted' | 'escaped' | 'group' | 'close' | 'class' | 'classEnd' | 'repeat' | 'lone', string>>
>;

/** Go's escapes that differ in JavaScript. */
const ESCAPES: Readonly<Record<string, string>> = {A: '(?<![^])', z: '(?![^])', a: '\\x07'};

function escapeOf(part: string, escaped: string | undefined): string {
  if (escaped === undefined) throw syntaxError('trailing backslash at end of expression', '');
  const known = ESCAPES[escaped];
  if (known !== undefined) return known;
  if (/^[pP]\w$/.test(escaped)) return `\\${escaped.charAt(0)}{${escaped.charAt(1)}}`;
  if (escaped.startsWith('x{')) return `\\u${escaped.slice(1)}`;
  if (/^[1-9A-Za-z]$/.test(escaped) && !/^[bBdDsSwWfnrtvx]$/.test(escaped))
    throw syntaxError('invalid escape sequence', part);
  return /^[^\w\s]$/.test(escaped) ? literal(escaped) : part;
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\t ',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`\\{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

function classOf(part: string, closed: boolean): string {
  if (!closed) throw syntaxError('missing closing ]', part);
  const [, open = '[', inner = ''] = /^(\[\^?)(.*)\]$/s.exec(part) ?? [];
  const translated = inner
    .replace(/\[:(\w+):\]/g, (whole, name: string) => POSIX[name] ?? whole)
    .replace(/^\]/, '\\]')
    .replace(/\\([^\w\s])/g, (_, char: string) => literal(char));
  return `${open}${translated}]`;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (char) => (char === '-' ? '\\x2d' : `\\${char}`));
}

function syntaxError(message: string, excerpt: string): UsageError {
  return new UsageError(`error parsing regexp: ${message}: \`${excerpt}\``);
}
