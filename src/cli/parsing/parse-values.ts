import {EmptyValueError, messageOf, type UsageError} from '../../base/errors.js';
import {flagTitle, type FlagToken, type Tokens} from './tokenize.js';
import {ArgumentsError, FlagError} from './usage-errors.js';

/** Part of an oclif flag definition that decides its value. */
export interface FlagDefinition {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly multiple?: boolean;
  readonly delimiter?: string;
  readonly options?: readonly string[];
  readonly required?: boolean;
  /** True if an empty value is an error in a dialect that rejects empty values. */
  readonly rejectsEmpty?: boolean;
  /** Value of a flag that is not given, or a function that returns or resolves to it. */
  readonly default?: unknown;
  readonly parse: (input: never, context: never, flag: never) => Promise<unknown>;
}

/** Values of flags in which the dialects differ; flags receive it as the context of their parsers. */
export interface FlagSyntax {
  /** Parsers that replace those of the flag types. */
  readonly durationMs?: (text: string) => number;
  readonly integer?: (text: string) => bigint;
  readonly bytes?: (text: string) => bigint;
  readonly oomScore?: (text: string) => bigint;
  /** Returns the error for an empty value of a flag with `rejectsEmpty`; undefined if the dialect allows it. */
  emptyValue(token: FlagToken): UsageError | undefined;
  /** Returns the error for a value that a flag's parser rejected. */
  invalidValue(token: FlagToken, flag: FlagDefinition, error: unknown): FlagError;
}

/** kcri's own syntax, with kubectl's errors. */
export const KCRI_FLAG_SYNTAX: FlagSyntax = {
  emptyValue: ({name}) => new EmptyValueError(`--${name}`),
  invalidValue: ({name, value}, {char}, error) => {
    const flag = flagTitle({name, char});
    return new FlagError(`invalid argument "${value}" for "${flag}" flag: ${messageOf(error)}`, {
      cause: error,
    });
  },
};

/** Environment of flag parsing: the dialect. */
export interface ParseContext {
  readonly flagSyntax: FlagSyntax;
}

/** Part of an oclif argument definition that decides its value. */
export interface ArgDefinition {
  readonly multiple?: boolean;
  readonly required?: boolean;
  readonly default?: unknown;
  readonly parse: (input: never, context: never, arg: never) => Promise<unknown>;
}

export type ParsedValues = Readonly<Record<string, unknown>>;

/**
 * Returns the values of all flags: the last given value, all values of a `multiple` flag, or the default. Rejects with
 * UsageError for a value that is empty, is not one of `options`, or that the parser of the flag rejects.
 */
export async function parseFlagValues(
  rules: Readonly<Record<string, FlagDefinition>>,
  tokens: readonly FlagToken[],
  context: ParseContext,
): Promise<ParsedValues> {
  const names = new Set(tokens.map((token) => token.name));
  const values: Record<string, unknown> = {};
  const waiting: [name: string, rule: FlagDefinition][] = [];
  const add = (name: string, value: unknown): void => {
    if (value !== undefined) values[name] = value;
  };
  for (const [name, rule] of Object.entries(rules)) {
    const isGiven = names.has(name);
    if (!isGiven && rule.required === true) throw new FlagError(`required flag "--${name}" not set`);
    // Most flags are not given and have a constant default: a promise for each takes longer than all else here.
    if (isGiven || typeof rule.default === 'function') waiting.push([name, rule]);
    else add(name, defaultOf(rule));
  }
  await Promise.all(
    waiting.map(async ([name, rule]) => {
      const given = tokens.filter((token) => token.name === name);
      add(name, await flagValue(rule, given, context));
    }),
  );
  return values;
}

/** Returns the given values of the flags without defaults, which must not override values from elsewhere. */
export function pickGivenValues(values: ParsedValues, {flags}: Pick<Tokens, 'flags'>): ParsedValues {
  if (flags.length === 0) return {};
  const names = new Set(flags.map(({name}) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

async function flagValue(
  rule: FlagDefinition,
  given: readonly FlagToken[],
  context: ParseContext,
): Promise<unknown> {
  const last = given.at(-1);
  if (last === undefined) return await defaultOf(rule);
  if (rule.multiple !== true) return await parseFlagValue(rule, last, context);
  const tokens = given.flatMap((token) => split(token, rule.delimiter));
  return await Promise.all(tokens.map((token) => parseFlagValue(rule, token, context)));
}

/** Splits a list. Spaces around its parts do not count, as in Go's library for command lines. */
function split(token: FlagToken, delimiter: string | undefined): readonly FlagToken[] {
  const {value} = token;
  if (typeof value === 'boolean' || delimiter === undefined) return [token];
  return value.split(delimiter).map((part) => ({...token, value: trimSpace(part)}));
}

/**
 * Removes white space at both ends as Go's strings.TrimSpace does: U+0085 is white space, and the byte order mark is
 * not.
 */
export function trimSpace(text: string): string {
  return text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, '');
}

/** Returns the value of one occurrence of a flag. Rejects with UsageError. */
export async function parseFlagValue(
  rule: FlagDefinition,
  token: FlagToken,
  {flagSyntax}: ParseContext,
): Promise<unknown> {
  const {value} = token;
  const empty = rule.rejectsEmpty === true && value === '' ? flagSyntax.emptyValue(token) : undefined;
  if (empty !== undefined) throw empty;
  if (rule.options !== undefined && !rule.options.includes(String(value)))
    throw flagSyntax.invalidValue(token, rule, new Error(`must be one of ${rule.options.join(', ')}`));
  try {
    return await rule.parse(value as never, flagSyntax as never, rule as never);
  } catch (error) {
    throw flagSyntax.invalidValue(token, rule, error);
  }
}

function defaultOf(rule: Partial<FlagDefinition>): unknown {
  const value: unknown = rule.default ?? (rule.type === 'boolean' ? false : undefined);
  return typeof value === 'function' ? (value as () => unknown)() : value;
}

/**
 * Returns the values of the named arguments in order; a `multiple` argument takes all remaining words. Rejects with
 * ArgumentsError for a missing required argument and, unless `strict` is false, for surplus ones.
 */
export async function parseArgValues(
  rules: Readonly<Record<string, ArgDefinition>>,
  {positionals}: Pick<Tokens, 'positionals'>,
  strict: boolean,
): Promise<ParsedValues> {
  const rest = [...positionals];
  const values: Record<string, unknown> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const given = rule.multiple === true ? rest.splice(0) : rest.splice(0, 1);
    if (given.length === 0 && rule.required === true) throw new ArgumentsError(`missing argument ${name}`);
    const all = await Promise.all(
      given.map((text) => rule.parse(text as never, undefined as never, rule as never)),
    );
    values[name] = given.length === 0 ? await defaultOf(rule) : rule.multiple === true ? all : all[0];
  }
  if (strict && rest.length > 0) throw new ArgumentsError(`unexpected argument "${rest[0] ?? ''}"`);
  return values;
}
