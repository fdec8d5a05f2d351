import * as Flags from '@oclif/core/flags';
import {parseDuration} from '../../format/duration.js';
import {requireInt64} from '../../format/go-integer.js';
import type {FlagSyntax} from '../parsing/parse-values.js';

/** Parses a Go duration (`1m30s`) or a number of seconds into milliseconds. Throws Error. */
export function durationMs(text: string): number {
  const nanos = parseDuration(/^-?\d+$/.test(text) ? `${text}s` : text);
  if (nanos === undefined) throw new Error('not a duration such as 1m30s');
  return Number(nanos) / 1e6;
}

/** Flag that takes a duration; its value is in ms. */
export const durationFlag = Flags.custom<number>({
  parse: async (text, syntax: unknown) => ((syntax as FlagSyntax).durationMs ?? durationMs)(text),
});

/** Flag that takes an integer. */
export const integerFlag = Flags.custom<number>({
  parse: async (text, syntax: unknown) => {
    const parse = (syntax as FlagSyntax | undefined)?.integer;
    if (parse !== undefined) return Number(parse(text));
    if (!/^[+-]?\d{1,15}$/.test(text)) throw new Error('not an integer');
    return Number(text);
  },
});

/** Flag that takes an integer that the CRI passes on with all of its 64 bits. */
export const int64Flag = Flags.custom<bigint>({
  parse: async (text, syntax: unknown) => ((syntax as FlagSyntax | undefined)?.integer ?? decimalInt64)(text),
});

function decimalInt64(text: string): bigint {
  if (!/^[+-]?\d+$/.test(text)) throw new Error('not an integer');
  return requireInt64(BigInt(text));
}

/**
 * Adds the known values of a flag: help lists them, and completion suggests them. The command itself validates the
 * value. A choice such as `jsonpath=TEMPLATE` represents all values that start with `jsonpath=`.
 */
export function withChoices<F extends {description?: string | undefined}>(
  flag: F,
  choices: readonly string[],
): F {
  const [text = '', byDefault = ''] = (flag.description ?? '').split(/(?= \[)/);
  return Object.assign(flag, {choices, description: `${text} One of: ${choices.join(', ')}.${byDefault}`});
}

/** Lets a flag be given without a value, which then is `bare`, as in `--version` and `--version=raw`. */
export function withBareValue<F extends object>(flag: F, bare: string): F {
  return Object.assign(flag, {bare});
}

type FlagSet = Readonly<Record<string, object>>;

/** Returns flags whose values must not be empty under kcri's own name, because a script's variable may be unset. */
export const nonEmptyFlags = <F extends FlagSet>(flags: F): F => markFlags(flags, {rejectsEmpty: true});

/** Returns flags that do not exist under the name crictl. */
export const kcriOnlyFlags = <F extends FlagSet>(flags: F): F => markFlags(flags, {kcriOnly: true});

function markFlags<F extends FlagSet>(flags: F, mark: object): F {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, {...flag, ...mark}])) as F;
}

/** Returns the value of a flag for which an empty text means that it is not set. */
export function unlessEmpty(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

/** Repeatable flag whose values can also be separated by commas, as in crictl. */
export const listFlag = Flags.custom<string[]>({multiple: true, delimiter: ','});

/** Flag of commands that can read saved nodes instead of running ones. */
export const FROM_FLAG = kcriOnlyFlags(
  nonEmptyFlags({
    from: Flags.string({
      multiple: true,
      helpValue: 'FILE',
      description: 'Read a node that was saved with "kcri doctor --save", instead of a running one.',
    }),
  }),
);
