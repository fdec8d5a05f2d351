import {findClosestMatch} from '../../base/closest-match.js';
import {FlagError} from './usage-errors.js';

/** Shape of a flag, a subset of oclif's flag definitions. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly aliases?: readonly string[];
  readonly charAliases?: readonly string[];
  /** True if the flag does not exist under the name crictl. */
  readonly kcriOnly?: boolean;
  /** Value of a flag without one: only `--flag=value` has another. */
  readonly bare?: string;
}

/** Flags by their canonical name. */
export type FlagShapes = Readonly<Record<string, FlagShape>>;

/** Flag on a command line, with its canonical name. */
export interface FlagToken {
  readonly name: string;
  /** Spelling on the command line without dashes. */
  readonly spelling: string;
  readonly value: string | boolean;
}

/** Command line split into flags, in their order, and arguments. */
export interface Tokens {
  readonly flags: readonly FlagToken[];
  readonly positionals: readonly string[];
  /** True if `--help` or `-h` was given, unless as `--help=false`. */
  readonly help: boolean;
}

/** Options of tokenize. */
export interface TokenizeOptions {
  /** Reports whether everything after these arguments is taken literally, as exec requires after the first. */
  readonly flagsEndAfter?: (positionals: readonly string[]) => boolean;
}

/**
 * Splits a command line into flags and arguments in crictl's syntax (Go's flag package and urfave/cli's short options):
 * `-f`, `-f=v`, `-f v`, `-fv`, `-abc`, `--flag=v`, `-flag v`, `--bool=false`, `--`. Flags may also follow positionals.
 *
 * `own` flags win over `shared` ones with the same letter or name. Throws FlagError with kubectl's text.
 */
export function tokenize(
  argv: readonly string[],
  own: FlagShapes,
  shared: FlagShapes,
  options: TokenizeOptions = {},
): Tokens {
  return new Tokenizer(argv, () => indexFlagSpellings(own, shared), options).run();
}

/** Shape of a flag with its canonical name. */
export interface NamedFlag {
  readonly name: string;
  readonly shape: FlagShape;
}

/** Flags by each of their spellings. */
export type FlagTable = ReadonlyMap<string, NamedFlag>;

const HELP: NamedFlag = {name: 'help', shape: {type: 'boolean'}};

/** Returns every spelling of every flag without its dashes; `own` flags win over `shared` ones. */
export function indexFlagSpellings(own: FlagShapes, shared: FlagShapes): FlagTable {
  const table = new Map([
    ['h', HELP],
    ['help', HELP],
  ]);
  for (const shapes of [shared, own]) {
    for (const [name, shape] of Object.entries(shapes)) {
      const flag = {name, shape};
      table.set(name, flag);
      for (const alias of shape.aliases ?? NONE) table.set(alias, flag);
      if (shape.char !== undefined) table.set(shape.char, flag);
      for (const letter of shape.charAliases ?? NONE) table.set(letter, flag);
    }
  }
  return table;
}

const NONE: readonly string[] = [];

class Tokenizer {
  readonly #rest: string[];
  readonly #createTable: () => FlagTable;
  #createdTable: FlagTable | undefined;
  readonly #options: TokenizeOptions;
  readonly #flags: FlagToken[] = [];
  readonly #positionals: string[] = [];
  #help = false;

  constructor(argv: readonly string[], createTable: () => FlagTable, options: TokenizeOptions) {
    this.#rest = [...argv];
    this.#createTable = createTable;
    this.#options = options;
  }

  /** Table of all flags, which a command line without any does not need. */
  get #table(): FlagTable {
    return (this.#createdTable ??= this.#createTable());
  }

  run(): Tokens {
    for (let word = this.#rest.shift(); word !== undefined; word = this.#rest.shift()) {
      if (word === '--') {
        this.#takeRest();
      } else if (word === '-' || !word.startsWith('-')) {
        this.#positionals.push(word);
        if (this.#options.flagsEndAfter?.(this.#positionals) === true) this.#takeRest();
      } else this.#flag(word);
    }
    return {flags: this.#flags, positionals: this.#positionals, help: this.#help};
  }

  #takeRest(): void {
    this.#positionals.push(...this.#rest.splice(0));
  }

  #flag(word: string): void {
    const [, dashes = '', body = '', value] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = this.#table.get(body);
    if (flag !== undefined) this.#add(flag, body, value);
    else if (dashes === '-' && this.#table.has(body.charAt(0))) this.#shorts(word.slice(1));
    else if (word.length === 2) throw unknownShorthand(body, body);
    else throw this.#unknown(dashes, body);
  }

  /** Reads `-abc`, `-n2`, `-ofoo`: letters up to the first that takes a value. */
  #shorts(letters: string, cluster = letters): void {
    const letter = letters.charAt(0);
    const flag = this.#table.get(letter);
    if (flag === undefined) throw unknownShorthand(letter, cluster);
    const rest = letters.slice(1);
    if (flag.shape.type === 'option' || rest.startsWith('=')) {
      this.#add(flag, letter, rest === '' ? undefined : rest.replace(/^=/, ''));
      return;
    }
    this.#add(flag, letter, undefined);
    if (rest !== '') this.#shorts(rest, cluster);
  }

  #unknown(dashes: string, name: string): FlagError {
    const words = [...this.#table.keys()].filter((spelling) => spelling.length > 1);
    const guess = findClosestMatch(name, words);
    return new FlagError(`unknown flag: ${dashes}${name}`, {
      hint: guess === undefined ? undefined : `did you mean --${guess}?`,
    });
  }

  #add(flag: NamedFlag, spelling: string, value: string | undefined): void {
    if (flag === HELP) {
      this.#help = value === undefined || booleanValue(flag, value);
      return;
    }
    if (flag.shape.type === 'boolean') {
      this.#flags.push({
        name: flag.name,
        spelling,
        value: value === undefined || booleanValue(flag, value),
      });
      return;
    }
    const given = value ?? flag.shape.bare ?? this.#rest.shift();
    if (given === undefined) throw missingValue(spelling);
    this.#flags.push({name: flag.name, spelling, value: given});
  }
}

/** Reports whether a boolean flag is set. The last value counts. */
export function isSet(flags: readonly FlagToken[], name: string): boolean {
  return flags.findLast((flag) => flag.name === name)?.value === true;
}

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** Returns the value of `--flag=value` as Go's strconv.ParseBool reads it; undefined for any other text. */
export function parseBooleanValue(value: string): boolean | undefined {
  if (TRUE.includes(value)) return true;
  return FALSE.includes(value) ? false : undefined;
}

function booleanValue(flag: NamedFlag, value: string): boolean {
  const parsed = parseBooleanValue(value);
  if (parsed === undefined)
    throw new FlagError(
      `invalid argument "${value}" for "${flagTitle({name: flag.name, char: flag.shape.char})}" flag: must be true or false`,
    );
  return parsed;
}

/** Returns a flag with its letter, as kubectl's errors name it. */
export function flagTitle({name, char}: {readonly name: string; readonly char?: string | undefined}): string {
  return char === undefined ? `--${name}` : `-${char}, --${name}`;
}

function unknownShorthand(letter: string, cluster: string): FlagError {
  return new FlagError(`unknown shorthand flag: '${letter}' in -${cluster}`);
}

function missingValue(spelling: string): FlagError {
  const flag = spelling.length === 1 ? `'${spelling}' in -${spelling}` : `--${spelling}`;
  return new FlagError(`flag needs an argument: ${flag}`);
}
