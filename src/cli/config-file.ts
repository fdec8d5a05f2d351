import {readFileSync} from 'node:fs';
import {closest} from '../base/closest.js';
import {ConfigError, hasErrno} from '../base/errors.js';
import {parseDuration} from '../format/duration.js';

/** What crictl's config file may hold. */
export interface ConfigFile {
  readonly 'runtime-endpoint'?: string;
  readonly 'image-endpoint'?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly 'pull-image-on-create'?: boolean;
  readonly 'disable-pull-on-run'?: boolean;
  readonly 'max-retries'?: number;
}

/** The name of an option in a config file. */
export type ConfigKey = keyof ConfigFile;

type OptionType = 'text' | 'integer' | 'seconds' | 'boolean';

/** Every option by its name, in crictl's order. */
export const CONFIG_OPTIONS = {
  'runtime-endpoint': 'text',
  'image-endpoint': 'text',
  timeout: 'seconds',
  debug: 'boolean',
  'pull-image-on-create': 'boolean',
  'disable-pull-on-run': 'boolean',
  'max-retries': 'integer',
} as const satisfies Record<ConfigKey, OptionType>;

/** The names of all options. */
export const CONFIG_KEYS = Object.keys(CONFIG_OPTIONS) as readonly ConfigKey[];

/** True for the name of an option. */
export function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(CONFIG_OPTIONS, key);
}

/** Where kcri and crictl differ in what a config file may say, and how they say what is wrong with it. */
export interface ConfigDialect {
  /** What to do with an option that doesn't exist: throw, or remember it. */
  readonly onUnknown: (key: string) => void;
  readonly wrongValue: (key: ConfigKey, value: string) => ConfigError;
  /** Whether an option without a value is one that is not there, and a timeout may be a duration. */
  readonly lenient: boolean;
}

/** kcri's own: an unknown option is told of, and does not keep anybody from working. */
export function ownDialect(onUnknown: (warning: string) => void): ConfigDialect {
  return {
    onUnknown: (key) => {
      onUnknown(`the option "${key}" does not exist${didYouMean(key)}`);
    },
    wrongValue: (key, value) =>
      new ConfigError(`the value of "${key}" is not ${EXPECTED[CONFIG_OPTIONS[key]]}: "${value}"`),
    lenient: true,
  };
}

const EXPECTED = {
  text: 'a text',
  integer: 'a whole number',
  seconds: 'a number of seconds or a duration such as 1m30s',
  boolean: 'true or false',
} as const satisfies Record<OptionType, string>;

/** The words that follow the name of an unknown option; empty when no other one is near. */
export function didYouMean(key: string): string {
  const guess = closest(key, CONFIG_KEYS);
  return guess === undefined ? '' : `; did you mean "${guess}"?`;
}

/** crictl's: Go's words, and an unknown option is the end. */
export const CRICTL_DIALECT: ConfigDialect = {
  onUnknown: (key) => {
    throw new ConfigError(`Config option '${key}' is not valid`);
  },
  wrongValue: (key, value) => new ConfigError(`parsing config option '${key}': ${goParseError(key, value)}`),
  lenient: false,
};

/** What Go's strconv says of a value that it can't read. */
export function goParseError(key: ConfigKey, value: string): string {
  const parser = CONFIG_OPTIONS[key] === 'boolean' ? 'ParseBool' : 'Atoi';
  return `strconv.${parser}: parsing ${JSON.stringify(value)}: invalid syntax`;
}

/** The text of a config file; undefined when there is none. Throws what the system says. */
export function readConfigText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/**
 * The settings in the text of a config file. Plain `key: value` lines are read here, so that no YAML library
 * is needed on the way to every command; it is loaded for whatever else YAML has, JSON among it. The last of
 * two equal keys counts, as in crictl. Rejects with ConfigError.
 */
export async function parseConfigFile(source: string, dialect: ConfigDialect): Promise<ConfigFile> {
  const settings: Record<string, unknown> = {};
  for (const [key, value] of plainEntries(source) ?? (await yamlEntries(source))) {
    if (!isConfigKey(key)) dialect.onUnknown(key);
    else if (value !== '' || !dialect.lenient) settings[key] = configValue(key, value, dialect);
  }
  return settings;
}

type Entry = readonly [key: string, value: string];

/** A line that means the same to YAML and to this expression. */
const PLAIN_LINE =
  /^["']?([\w-]+)["']?:(?:\s+(?:"([^"\\]*)"|'([^']*)'|([-+]?[\w/~.]\S*(?<!:)))?)?(?:\s+#.*)?\s*$/;

function plainEntries(source: string): Entry[] | undefined {
  const lines = source.split(/\r?\n/).filter((line) => !/^\s*(#|---\s*$|$)/.test(line));
  const entries = lines.map((line) => PLAIN_LINE.exec(line)).filter((match) => match !== null);
  if (entries.length < lines.length) return undefined;
  return entries.map(([, key = '', double, single, plain = '']) => [
    key,
    double ?? single ?? (/^(~|null)$/i.test(plain) ? '' : plain),
  ]);
}

async function yamlEntries(source: string): Promise<Entry[]> {
  const {isMap, isScalar, parseDocument} = await import('yaml');
  const {contents, errors} = parseDocument(source, {uniqueKeys: false});
  const [error] = errors;
  if (error !== undefined)
    throw new ConfigError(error.message.split(/:?\n/)[0] ?? error.message, {cause: error});
  if (!isMap(contents)) throw new ConfigError('it does not say "option: value"');
  const text = (node: unknown): string => {
    if (!isScalar(node)) return JSON.stringify(node ?? '');
    return node.value === null ? '' : (node.source ?? JSON.stringify(node.value));
  };
  return contents.items.map(({key, value}) => [text(key), text(value)]);
}

/** The value of an option in its own type. Throws ConfigError in the dialect's words. */
export function configValue(key: ConfigKey, value: string, dialect: ConfigDialect): unknown {
  const parsed = PARSERS[CONFIG_OPTIONS[key]](value, dialect.lenient);
  if (parsed === undefined) throw dialect.wrongValue(key, value);
  return parsed;
}

const PARSERS = {
  text: (value: string) => value,
  integer,
  seconds: (value: string, lenient: boolean) => integer(value) ?? (lenient ? duration(value) : undefined),
  boolean,
} as const satisfies Record<OptionType, (value: string, lenient: boolean) => unknown>;

function integer(value: string): number | undefined {
  return /^[-+]?\d+$/.test(value) ? Number(value) : undefined;
}

function duration(value: string): number | undefined {
  const nanos = parseDuration(value);
  return nanos === undefined ? undefined : Number(nanos) / 1e9;
}

/** As Go's strconv.ParseBool. */
function boolean(value: string): boolean | undefined {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : undefined;
}
