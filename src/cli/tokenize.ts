import {closest} from '../base/closest.js';
import {FlagError} from './usage-errors.js';

/** What the tokenizer needs to know about a flag; oclif's flag definitions have this shape. */
export interface FlagShape {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly aliases?: readonly string[];
  readonly charAliases?: readonly string[];
}

/** Flags by their canonical name. */
export type FlagShapes = Readonly<Record<string, FlagShape>>;

/** One flag as it was written, under its canonical name. */
export interface FlagToken {
  readonly name: string;
  /** What was written, without dashes. */
  readonly spelling: string;
  readonly value: string | boolean;
}

/** A command line taken apart: flags in their order, and what is not a flag. */
export interface Tokens {
  readonly flags: readonly FlagToken[];
  readonly positionals: readonly string[];
  /** `--help` or `-h` was among the flags. */
  readonly help: boolean;
}

/** How far flags reach. */
export interface TokenizeOptions {
  /** The first positional and everything behind it is taken literally, as exec needs it. */
  readonly stopAtPositional?: boolean;
}

/**
 * Takes a command line apart as crictl does (Go's flag package and urfave/cli's short options): `-f`, `-f=v`,
 * `-f v`, `-fv`, `-abc`, `--flag=v`, `-flag v`, `--bool=false`, `--`. Flags may also follow positionals.
 *
 * `own` flags win over `shared` ones where a letter or a name is used by both. Throws FlagError with Go's text.
 */
export function tokenize(
  argv: readonly string[],
  own: FlagShapes,
  shared: FlagShapes,
  options: TokenizeOptions = {},
): Tokens {
  return new Tokenizer(argv, nameTable(own, shared), options).run();
}

/** A flag's shape with its canonical name. */
export interface NamedFlag extends FlagShape {
  readonly name: string;
}

const HELP: NamedFlag = {name: 'help', type: 'boolean'};

/** Every spelling of every flag without its dashes; later writers win. */
export function nameTable(own: FlagShapes, shared: FlagShapes): ReadonlyMap<string, NamedFlag> {
  const table = new Map<string, NamedFlag>([
    ['h', HELP],
    ['help', HELP],
  ]);
  for (const shapes of [shared, own]) {
    for (const [name, shape] of Object.entries(shapes)) {
      const short = [shape.char, ...(shape.charAliases ?? [])].filter((char) => char !== undefined);
      for (const spelling of [name, ...(shape.aliases ?? []), ...short])
        table.set(spelling, {...shape, name});
    }
  }
  return table;
}

class Tokenizer {
  readonly #rest: string[];
  readonly #table: ReadonlyMap<string, NamedFlag>;
  readonly #options: TokenizeOptions;
  readonly #flags: FlagToken[] = [];
  readonly #positionals: string[] = [];
  #help = false;

  constructor(argv: readonly string[], table: ReadonlyMap<string, NamedFlag>, options: TokenizeOptions) {
    this.#rest = [...argv];
    this.#table = table;
    this.#options = options;
  }

  run(): Tokens {
    for (let word = this.#rest.shift(); word !== undefined; word = this.#rest.shift()) {
      if (word === '--') {
        this.#takeRest();
      } else if (word === '-' || !word.startsWith('-')) {
        this.#positionals.push(word);
        if (this.#options.stopAtPositional === true) this.#takeRest();
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
    else throw this.#unknown(body);
  }

  /** `-abc`, `-n2`, `-ofoo`: letters until one takes the rest as its value. */
  #shorts(letters: string): void {
    const letter = letters.charAt(0);
    const flag = this.#table.get(letter);
    if (flag === undefined) throw this.#unknown(letter);
    const rest = letters.slice(1);
    if (flag.type === 'option' || rest.startsWith('=')) {
      this.#add(flag, letter, rest === '' ? undefined : rest.replace(/^=/, ''));
      return;
    }
    this.#add(flag, letter, undefined);
    if (rest !== '') this.#shorts(rest);
  }

  #unknown(name: string): FlagError {
    const words = [...this.#table.keys()].filter((spelling) => spelling.length > 1);
    const guess = closest(name, words);
    return new FlagError(`flag provided but not defined: -${name}`, {
      hint: guess === undefined ? undefined : `did you mean --${guess}?`,
    });
  }

  #add(flag: NamedFlag, spelling: string, value: string | undefined): void {
    if (flag === HELP) {
      this.#help = true;
      return;
    }
    if (flag.type === 'boolean') {
      this.#flags.push({
        name: flag.name,
        spelling,
        value: value === undefined || booleanValue(value, spelling),
      });
      return;
    }
    const given = value ?? this.#rest.shift();
    if (given === undefined) throw new FlagError(`flag needs an argument: -${spelling}`);
    this.#flags.push({name: flag.name, spelling, value: given});
  }
}

const TRUE = ['1', 't', 'T', 'true', 'TRUE', 'True'];
const FALSE = ['0', 'f', 'F', 'false', 'FALSE', 'False'];

/** What `--flag=value` says. Throws FlagError in Go's words. */
export function booleanValue(value: string, spelling: string): boolean {
  if (TRUE.includes(value)) return true;
  if (FALSE.includes(value)) return false;
  throw new FlagError(`invalid boolean value "${value}" for -${spelling}: parse error`);
}
