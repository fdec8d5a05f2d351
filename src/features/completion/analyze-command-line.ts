import type {FlagDefinition} from '../../cli/parsing/parse-values.js';

/** Part of an oclif flag definition that completion uses. */
export interface FlagInfo extends Pick<FlagDefinition, 'type' | 'options'> {
  readonly char?: string;
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  readonly helpValue?: string | readonly string[];
  /** Value of a flag without one, see withBareValue. */
  readonly bare?: string;
  /** Known values, see withChoices. */
  readonly choices?: readonly string[];
  readonly description?: string;
}

/** Flags by their name. */
export type FlagInfos = Readonly<Record<string, FlagInfo>>;

/** Kind of the word at the cursor. */
export type Cursor =
  | {readonly kind: 'flag'}
  | {readonly kind: 'value'; readonly flag: string; readonly before: string}
  | {readonly kind: 'argument'; readonly index: number};

/** Analysis of a command line up to the cursor. */
export interface CommandLineAnalysis {
  readonly cursor: Cursor;
  /** Arguments before the cursor. */
  readonly positionals: readonly string[];
  /** Last value of each flag that takes one. */
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Analyzes the words that follow the program or the command; the last one is at the cursor. Where
 * `flagsEndAfter` holds, all further words are arguments. Ignores errors, because the line is incomplete.
 */
export function analyzeCommandLine(
  words: readonly string[],
  flags: FlagInfos,
  flagsEndAfter: (positionals: readonly string[]) => boolean,
): CommandLineAnalysis {
  const result = {positionals: [] as string[], values: {} as Record<string, string>};
  let literal = false;
  let pendingFlag: string | undefined;
  for (const word of words.slice(0, -1)) {
    if (pendingFlag !== undefined) {
      result.values[pendingFlag] = word;
      pendingFlag = undefined;
    } else if (literal || !/^-./.test(word)) {
      result.positionals.push(word);
      literal ||= flagsEndAfter(result.positionals);
    } else if (word === '--') literal = true;
    else pendingFlag = readFlag(word, flags, result.values);
  }
  const index = result.positionals.length;
  return {cursor: cursorAt(words.at(-1) ?? '', {pendingFlag, literal, flags, index}), ...result};
}

/** Stores the value that a word contains, or returns the flag whose value is the next word. */
function readFlag(word: string, flags: FlagInfos, values: Record<string, string>): string | undefined {
  const {name, value} = flagOf(word, flags);
  if (name === undefined || flags[name]?.type !== 'option') return undefined;
  if (value === undefined) return flags[name].bare === undefined ? name : undefined;
  values[name] = value;
  return undefined;
}

interface CursorContext {
  readonly pendingFlag: string | undefined;
  readonly literal: boolean;
  readonly flags: FlagInfos;
  readonly index: number;
}

function cursorAt(cur: string, {pendingFlag, literal, flags, index}: CursorContext): Cursor {
  if (pendingFlag !== undefined) return {kind: 'value', flag: pendingFlag, before: ''};
  if (literal || !cur.startsWith('-')) return {kind: 'argument', index};
  const {name, value} = flagOf(cur, flags);
  if (name === undefined || value === undefined) return {kind: 'flag'};
  return {kind: 'value', flag: name, before: cur.slice(0, cur.length - value.length)};
}

/** Returns the flag of a word: `--name`, `--name=value`, `-n`, `-n=value`, or the last of `-itn`. */
function flagOf(word: string, flags: FlagInfos): {name: string | undefined; value: string | undefined} {
  const [, dashes = '', body = '', value] = /^(--?)([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
  const named = (spelling: string): string | undefined =>
    Object.entries(flags).find(
      ([name, {char, aliases = []}]) => name === spelling || char === spelling || aliases.includes(spelling),
    )?.[0];
  return {name: named(body) ?? (dashes === '-' ? named(body.slice(-1)) : undefined), value};
}

/** Splits a shell command line into words and removes quotes and backslashes; the last word may be empty. */
export function splitShellWords(line: string): string[] {
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

/** Returns the length of the part of a word that bash splits off, because it breaks words at `:` and `=`. */
export function bashWordBreakLength(word: string, breaks: string): number {
  return Math.max(
    ...[':', '='].filter((mark) => breaks.includes(mark)).map((mark) => word.lastIndexOf(mark) + 1),
    0,
  );
}
