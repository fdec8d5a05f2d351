import {isAbsolute, resolve} from 'node:path';
import {anything, bool, int32, int64, list, map, text, type Field} from '../../api/schema.js';
import {parseQuantity} from '../../api/quantity.js';
import {messageOf, UsageError} from '../../base/errors.js';
import {parseDuration} from '../../format/duration.js';

/** How a field's value is written: in a file and in flags. */
export interface ConfigType<T> {
  /** As the API's documentation has it. */
  readonly name: string;
  readonly schema: Field<T>;
  /** The value that one or several flags of the same name give. Throws Error with what is wrong. */
  readonly fromFlags: (texts: readonly string[]) => T;
  /** What a value means in a file of that directory; itself by default. */
  readonly inDirectory?: (value: T, directory: string) => T;
  /** What is wrong with a value that the schema lets pass. */
  readonly problem?: (value: T) => string | undefined;
}

const last = (texts: readonly string[]): string => texts.at(-1) ?? '';

export const TEXT: ConfigType<string> = {name: 'string', schema: text, fromFlags: last};

/** A relative one is relative to the directory of the file that has it (configfiles.go resolveRelativePaths). */
export const PATH: ConfigType<string> = {
  ...TEXT,
  inDirectory: (path, directory) => (path === '' || isAbsolute(path) ? path : resolve(directory, path)),
};

export const BOOL: ConfigType<boolean> = {
  name: 'boolean',
  schema: bool,
  fromFlags: (texts) => last(texts) === 'true',
};

function wholeNumber(texts: readonly string[]): number {
  const written = last(texts);
  if (!/^[+-]?\d{1,15}$/.test(written)) throw new UsageError('not a whole number');
  return Number(written);
}

export const INT32: ConfigType<number> = {name: 'int32', schema: int32, fromFlags: wholeNumber};
export const INT64: ConfigType<number> = {name: 'int64', schema: int64, fromFlags: wholeNumber};

/** A number, which the API's table of Pods has no type for. */
export const FLOAT: ConfigType<unknown> = {
  name: 'float64',
  schema: anything,
  fromFlags: (texts) => Number(last(texts)),
  problem: (value) => (typeof value === 'number' ? undefined : 'must be a number'),
};

/** In Go's words (time.ParseDuration). */
function durationProblem(value: string): string | undefined {
  if (parseDuration(value) !== undefined) return undefined;
  const isNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)$/.test(value);
  const text = JSON.stringify(value);
  return isNumber
    ? `time: missing unit in duration ${text} (write ${JSON.stringify(`${value}s`)} for seconds)`
    : `time: invalid duration ${text}`;
}

/** As Go writes them: `1m30s`. */
export const DURATION: ConfigType<string> = {
  name: 'duration',
  schema: text,
  fromFlags: last,
  problem: durationProblem,
};

function quantityProblem(value: string): string | undefined {
  try {
    parseQuantity(value);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** An amount of bytes: `10Mi`. */
export const QUANTITY: ConfigType<string> = {
  name: 'quantity',
  schema: text,
  fromFlags: last,
  problem: quantityProblem,
};

/** Flags of a list may be repeated, and hold several values between commas. */
export const TEXTS: ConfigType<readonly string[]> = {
  name: '[]string',
  schema: list(text),
  fromFlags: (texts) => texts.flatMap((one) => (one === '' ? [] : one.split(','))),
};

export const NUMBERS: ConfigType<readonly number[]> = {
  name: '[]int32',
  schema: list(int32),
  fromFlags: (texts) => TEXTS.fromFlags(texts).map((one) => wholeNumber([one])),
};

const pairs =
  (separator: string) =>
  (texts: readonly string[]): Readonly<Record<string, string>> =>
    Object.fromEntries(
      TEXTS.fromFlags(texts).map((pair) => {
        const at = pair.indexOf(separator);
        if (at <= 0) throw new UsageError(`${JSON.stringify(pair)} is not KEY${separator}VALUE`);
        return [pair.slice(0, at).trim(), pair.slice(at + separator.length).trim()];
      }),
    );

/** As flags: `cpu=1,memory=2Gi`. */
export const TEXT_MAP: ConfigType<Readonly<Record<string, string>>> = {
  name: 'map[string]string',
  schema: map(text),
  fromFlags: pairs('='),
};

/** As flags: `memory.available<100Mi,nodefs.available<10%`. */
export const THRESHOLDS: ConfigType<Readonly<Record<string, string>>> = {
  ...TEXT_MAP,
  fromFlags: pairs('<'),
};

/** As flags: `EventedPLEG=false,Other=true`. */
export const BOOL_MAP: ConfigType<Readonly<Record<string, boolean>>> = {
  name: 'map[string]bool',
  schema: map(bool),
  fromFlags: (texts) =>
    Object.fromEntries(
      Object.entries(pairs('=')(texts)).map(([key, value]) => {
        if (!/^(?:true|false)$/.test(value))
          throw new UsageError(`${key}: ${JSON.stringify(value)} is neither true nor false`);
        return [key, value === 'true'];
      }),
    ),
};

/** As flags, once a header: `Name:value`. */
export const HEADERS: ConfigType<Readonly<Record<string, readonly string[]>>> = {
  name: 'map[string][]string',
  schema: map(list(text)),
  fromFlags: (texts) => {
    const headers: Record<string, string[]> = {};
    for (const one of texts.flatMap((given) => given.split(','))) {
      const [name, value] = Object.entries(pairs(':')([one]))[0] ?? [];
      if (name !== undefined && value !== undefined) (headers[name] ??= []).push(value);
    }
    return headers;
  },
};

/** What kcri only takes notice of: carried as it is. */
export const ANYTHING: ConfigType<unknown> = {
  name: 'object',
  schema: anything,
  fromFlags: last,
};
