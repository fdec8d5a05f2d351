import type {FlagRule} from '../parse.js';

/** The part of an oclif flag definition that completion looks at. */
export interface FlagInfo extends Pick<FlagRule, 'type' | 'options'> {
  readonly char?: string;
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  readonly helpValue?: string | readonly string[];
  readonly description?: string;
}

/** Flags by their name. */
export type FlagInfos = Readonly<Record<string, FlagInfo>>;

/** What stands where the cursor is. */
export type Cursor =
  | {readonly kind: 'flag'}
  | {readonly kind: 'value'; readonly flag: string; readonly before: string}
  | {readonly kind: 'argument'; readonly index: number};

/** A command line up to the cursor, as far as completion needs to understand it. */
export interface Analysis {
  readonly cursor: Cursor;
  /** The arguments before the cursor. */
  readonly positionals: readonly string[];
  /** The last value of each flag that takes one. */
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Reads the words behind the program or the command; the last one is where the cursor is. Where flags end at the
 * first argument, everything behind it is an argument. What is wrong in the line is passed over: it is not done yet.
 */
export function analyse(words: readonly string[], flags: FlagInfos, flagsEndAtArgument: boolean): Analysis {
  const read = {positionals: [] as string[], values: {} as Record<string, string>};
  let literal = false;
  let waiting: string | undefined;
  for (const word of words.slice(0, -1)) {
    if (waiting !== undefined) {
      read.values[waiting] = word;
      waiting = undefined;
    } else if (literal || !/^-./.test(word)) {
      read.positionals.push(word);
      literal ||= flagsEndAtArgument;
    } else if (word === '--') literal = true;
    else waiting = readFlag(word, flags, read.values);
  }
  const index = read.positionals.length;
  return {cursor: cursorAt(words.at(-1) ?? '', {waiting, literal, flags, index}), ...read};
}

/** Takes down the value in a word, or gives the flag whose value the next word is. */
function readFlag(word: string, flags: FlagInfos, values: Record<string, string>): string | undefined {
  const {name, value} = flagOf(word, flags);
  if (name === undefined || flags[name]?.type !== 'option') return undefined;
  if (value === undefined) return name;
  values[name] = value;
  return undefined;
}

interface Place {
  readonly waiting: string | undefined;
  readonly literal: boolean;
  readonly flags: FlagInfos;
  readonly index: number;
}

function cursorAt(cur: string, {waiting, literal, flags, index}: Place): Cursor {
  if (waiting !== undefined) return {kind: 'value', flag: waiting, before: ''};
  if (literal || !cur.startsWith('-')) return {kind: 'argument', index};
  const {name, value} = flagOf(cur, flags);
  if (name === undefined || value === undefined) return {kind: 'flag'};
  return {kind: 'value', flag: name, before: cur.slice(0, cur.length - value.length)};
}

/** The flag that a word names: `--name`, `--name=value`, `-n`, `-n=value`, or the last of `-itn`. */
function flagOf(word: string, flags: FlagInfos): {name: string | undefined; value: string | undefined} {
  const [, dashes = '', body = '', value] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const named = (spelling: string): string | undefined =>
    Object.entries(flags).find(
      ([name, {char, aliases = []}]) => name === spelling || char === spelling || aliases.includes(spelling),
    )?.[0];
  return {name: named(body) ?? (dashes === '-' ? named(body.slice(-1)) : undefined), value};
}

/** The words of a shell's command line up to the cursor, quotes and backslashes taken off; the last may be empty. */
export function shellWords(line: string): string[] {
  const words = [''];
  const parts = line.matchAll(/(\s+)|'([^']*)'?|"((?:[^"\\]|\\.)*)"?|\\(.)|([^\s'"\\]+)/gs);
  for (const [, blank, single, double, escaped, plain] of parts) {
    if (blank !== undefined) words.push('');
    else
      words.push(
        (words.pop() ?? '') + (single ?? double?.replace(/\\([$`"\\])/g, '$1') ?? escaped ?? plain ?? ''),
      );
  }
  return words;
}

/** How much of a word bash takes for words of their own, since it breaks at `:` and `=` too. */
export function brokenOff(word: string, breaks: string): number {
  return Math.max(
    ...[':', '='].filter((mark) => breaks.includes(mark)).map((mark) => word.lastIndexOf(mark) + 1),
    0,
  );
}
