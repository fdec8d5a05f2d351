import {goQuote} from '../../format/go-quote.js';
import {FlagError} from '../parsing/usage-errors.js';
import {
  isSet,
  parseBooleanValue,
  indexFlagSpellings,
  type FlagShapes,
  type FlagToken,
  type FlagTable,
  type NamedFlag,
  type Tokens,
} from '../parsing/tokenize.js';

/** Flag syntax of a command. */
export interface GoSyntax {
  /** True if `-ab` means `-a -b`. */
  readonly combinesShorts: boolean;
  /** Checks a flag's value as soon as it is read: the first fault of a line counts. Rejects with FlagError. */
  readonly check: (token: FlagToken) => Promise<void>;
}

/**
 * Splits a command line as crictl does, with Go's flag package under urfave/cli. Flags end at the first argument. A
 * flag must not occur in two spellings. Combined letters are split only if `-ab` itself is not a flag, all letters are
 * flags, and there is no `=value`. Rejects with FlagError with Go's message.
 */
export async function tokenizeGoFlags(
  argv: readonly string[],
  shapes: FlagShapes,
  {combinesShorts, check}: GoSyntax,
): Promise<Tokens> {
  const table = indexFlagSpellings(shapes, {});
  const flags: FlagToken[] = [];
  let words = argv;
  for (;;) {
    const parsed = await takeFlags(words, table, check);
    flags.push(...parsed.flags);
    if (parsed.undefinedName === undefined) {
      refuseTwoForms(shapes, flags);
      return {flags, positionals: parsed.rest, help: isSet(flags, 'help')};
    }
    const again = combinesShorts ? withSplitShorts(words, parsed.undefinedName, table) : undefined;
    if (again === undefined) throw new FlagError(`flag provided but not defined: -${parsed.undefinedName}`);
    words = again;
  }
}

interface Taken {
  readonly flags: readonly FlagToken[];
  /** Arguments after the flags. */
  readonly rest: readonly string[];
  /** Name of the unknown flag that ended parsing. */
  readonly undefinedName?: string;
}

/** Parses leading flags (flag.go FlagSet.Parse). */
async function takeFlags(
  words: readonly string[],
  table: FlagTable,
  check: GoSyntax['check'],
): Promise<Taken> {
  const flags: FlagToken[] = [];
  const rest = [...words];
  for (let word = rest[0]; word !== undefined; word = rest[0]) {
    if (word.length < 2 || !word.startsWith('-')) break;
    rest.shift();
    if (word === '--') break;
    const [, body = ''] = /^--?(.*)$/s.exec(word) ?? [];
    if (/^(|[-=].*)$/s.test(body)) throw new FlagError(`bad flag syntax: ${word}`);
    const [, spelling = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(body) ?? [];
    const flag = table.get(spelling);
    if (flag === undefined) return {flags, rest, undefinedName: spelling};
    const token = {name: flag.name, spelling, value: valueOf(flag, {spelling, value, rest})};
    await check(token);
    flags.push(token);
  }
  return {flags, rest};
}

interface Written {
  readonly spelling: string;
  readonly value: string | undefined;
  readonly rest: string[];
}

function valueOf({shape}: NamedFlag, {spelling, value, rest}: Written): FlagToken['value'] {
  if (shape.type === 'boolean') return value === undefined || booleanValue(value, spelling);
  const given = value ?? rest.shift();
  if (given === undefined) throw new FlagError(`flag needs an argument: -${spelling}`);
  return given;
}

/** Parses the value of a boolean flag. Throws FlagError with Go's message. */
function booleanValue(value: string, spelling: string): boolean {
  const parsed = parseBooleanValue(value);
  if (parsed !== undefined) return parsed;
  throw new FlagError(`invalid boolean value ${goQuote(value)} for -${spelling}: parse error`);
}

/**
 * Returns the arguments from an unknown flag on, with its letters split; undefined if it cannot be split. The arguments
 * before it are already parsed.
 */
function withSplitShorts(
  words: readonly string[],
  name: string,
  table: FlagTable,
): readonly string[] | undefined {
  const index = words.findIndex((word) => word.replace(/^-+/, '') === name);
  const word = words[index] ?? '';
  const letters = word.slice(1).split('');
  const splits = /^-[^-].+$/s.test(word) && letters.every((letter) => table.has(letter));
  return splits ? [...letters.map((letter) => `-${letter}`), ...words.slice(index + 1)] : undefined;
}

function refuseTwoForms(shapes: FlagShapes, flags: readonly FlagToken[]): void {
  for (const [name, {aliases = [], charAliases = [], char}] of Object.entries(shapes)) {
    const spellings = [name, ...aliases, ...charAliases, ...(char === undefined ? [] : [char])];
    const [first, second] = spellings.filter((each) => flags.some(({spelling}) => spelling === each));
    if (second !== undefined)
      throw new FlagError(`Cannot use two forms of the same flag: ${second} ${first ?? ''}`);
  }
}
