import {messageOf} from '../base/errors.js';
import type {FlagToken, Tokens} from './tokenize.js';
import {ArgumentsError, FlagError} from './usage-errors.js';

/** The part of an oclif flag definition that decides its value. */
export interface FlagRule {
  readonly type: 'boolean' | 'option';
  readonly multiple?: boolean;
  readonly delimiter?: string;
  readonly options?: readonly string[];
  readonly required?: boolean;
  readonly default?: unknown;
  readonly parse: (input: never, context: never, flag: never) => Promise<unknown>;
}

/** What a flag's own parser is told of the run, in place of oclif's command. */
export interface ParseContext {
  /** Take and say what crictl would. */
  readonly compat: boolean;
}

/** The part of an oclif argument definition that decides its value. */
export interface ArgRule {
  readonly multiple?: boolean;
  readonly required?: boolean;
  readonly default?: unknown;
  readonly parse: (input: never, context: never, arg: never) => Promise<unknown>;
}

export type Values = Readonly<Record<string, unknown>>;

/**
 * The values of all flags: the last one given, all of them for `multiple` ones, else the default. Throws
 * FlagError for a value that is not among `options` or that the flag's own parser refuses.
 */
export async function flagValues(
  rules: Readonly<Record<string, FlagRule>>,
  tokens: readonly FlagToken[],
  context: ParseContext,
): Promise<Values> {
  const entries = await Promise.all(
    Object.entries(rules).map(async ([name, rule]) => {
      const given = tokens.filter((token) => token.name === name);
      return [name, await flagValue(name, rule, given, context)] as const;
    }),
  );
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The values of the flags that are there, without defaults: those must not replace what stands elsewhere. */
export function givenValues(values: Values, {flags}: Pick<Tokens, 'flags'>): Values {
  const names = new Set(flags.map(({name}) => name));
  return Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

async function flagValue(
  name: string,
  rule: FlagRule,
  given: readonly FlagToken[],
  context: ParseContext,
): Promise<unknown> {
  const last = given.at(-1);
  if (last === undefined) {
    if (rule.required === true) throw new FlagError(`the flag --${name} is required`);
    return await defaultOf(rule);
  }
  if (rule.multiple !== true) return await parsed(rule, last, context);
  const tokens = given.flatMap((token) => split(token, rule.delimiter));
  return await Promise.all(tokens.map((token) => parsed(rule, token, context)));
}

function split(token: FlagToken, delimiter: string | undefined): readonly FlagToken[] {
  const {value} = token;
  if (typeof value === 'boolean' || delimiter === undefined) return [token];
  return value.split(delimiter).map((part) => ({...token, value: part}));
}

async function parsed(
  rule: FlagRule,
  {name, value, spelling}: FlagToken,
  context: ParseContext,
): Promise<unknown> {
  if (rule.options !== undefined && !rule.options.includes(String(value)))
    throw new FlagError(`--${name} should be one of ${rule.options.join(', ')}, not "${value}"`);
  try {
    return await rule.parse(value as never, context as never, rule as never);
  } catch (error) {
    const reason = context.compat ? 'parse error' : messageOf(error);
    throw new FlagError(`invalid value "${value}" for flag -${spelling}: ${reason}`, {cause: error});
  }
}

async function defaultOf(rule: Partial<FlagRule>): Promise<unknown> {
  const value: unknown = rule.default ?? (rule.type === 'boolean' ? false : undefined);
  return typeof value === 'function' ? await (value as () => unknown)() : value;
}

/**
 * The values of the named arguments, in their order; one marked `multiple` takes all that is left. Throws
 * ArgumentsError for a missing required one and, unless `strict` is false, for what is left over.
 */
export async function argValues(
  rules: Readonly<Record<string, ArgRule>>,
  {positionals}: Pick<Tokens, 'positionals'>,
  strict: boolean,
): Promise<Values> {
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
