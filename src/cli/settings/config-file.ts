import {readFileSync, statSync} from 'node:fs';
import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError, hasErrno} from '../../base/errors.js';
import {shorten} from '../../base/shorten.js';
import {reportUnknownKeys} from '../../operations/container-configs/unknown-keys.js';
import {parseDuration} from '../../format/duration.js';

/** Options of crictl's config file. */
export interface ConfigFile {
  readonly 'runtime-endpoint'?: string;
  readonly 'image-endpoint'?: string;
  /** Timeout in seconds. */
  readonly timeout?: number;
  readonly debug?: boolean;
  readonly 'pull-image-on-create'?: boolean;
  readonly 'disable-pull-on-run'?: boolean;
  readonly 'max-retries'?: number;
}

/** Name of an option in a config file. */
export type ConfigKey = keyof ConfigFile;

type OptionType = 'text' | 'integer' | 'seconds' | 'boolean';

/** All options by name, in crictl's order. */
export const CONFIG_OPTIONS = {
  'runtime-endpoint': 'text',
  'image-endpoint': 'text',
  timeout: 'seconds',
  debug: 'boolean',
  'pull-image-on-create': 'boolean',
  'disable-pull-on-run': 'boolean',
  'max-retries': 'integer',
} as const satisfies Record<ConfigKey, OptionType>;

/** Names of all options. */
export const CONFIG_KEYS = Object.keys(CONFIG_OPTIONS) as readonly ConfigKey[];

/** Reports whether `key` is the name of an option. */
export function isConfigKey(key: string): key is ConfigKey {
  return Object.hasOwn(CONFIG_OPTIONS, key);
}

/** Differences between kcri and crictl in the accepted config file and in its error texts. */
export interface ConfigFileDialect {
  /** Handles an unknown option: throws, or records it. */
  readonly onUnknown: (key: string) => void;
  /** Handles further unknown options, of which there are too many to name. */
  readonly onMoreUnknown?: (count: number) => void;
  readonly createValueError: (key: ConfigKey, value: string) => ConfigError;
  /** True if an option without a value counts as unset, and a timeout may be a duration. */
  readonly isLenient: boolean;
}

/** Maximum length of a text of the file in a message. */
const LONGEST_SHOWN = 100;

/** Returns kcri's dialect: an unknown option is a warning. */
export function createKcriConfigFileDialect(onUnknown: (warning: string) => void): ConfigFileDialect {
  return {
    onUnknown: (key) => {
      onUnknown(`unknown option "${shorten(key, LONGEST_SHOWN)}"${suggestConfigKey(key)}`);
    },
    onMoreUnknown: (count) => {
      onUnknown(`${count} more unknown option${count === 1 ? '' : 's'}`);
    },
    createValueError: (key, value) =>
      new ConfigError(
        `invalid value "${shorten(value, LONGEST_SHOWN)}" of option "${key}": must be ${EXPECTED[CONFIG_OPTIONS[key]]}`,
      ),
    isLenient: true,
  };
}

const EXPECTED = {
  text: 'a string',
  integer: 'an integer',
  seconds: 'a number of seconds or a duration such as 1m30s',
  boolean: 'true or false',
} as const satisfies Record<OptionType, string>;

/** Returns the suggestion to append to the error for an unknown option; empty if no known option is similar. */
export function suggestConfigKey(key: string): string {
  const guess = findClosestMatch(key, CONFIG_KEYS);
  return guess === undefined ? '' : `; did you mean "${guess}"?`;
}

/** Maximum size of a config file. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/**
 * Returns the text of a config file, which may be a pipe or /dev/null; undefined if it does not exist. Rejects with
 * the system's error, and with ConfigError if it is too large. The usual case loads no other module.
 */
export async function readConfigText(path: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const found = statSync(path);
    if (found.isFile() && found.size > 0 && found.size <= MAX_CONFIG_BYTES) return readFileSync(path, 'utf8');
    const {readBoundedFile} = await import('../../base/fs/read-bounded-file.js');
    return (await readBoundedFile(path, {mostBytes: MAX_CONFIG_BYTES, signal})).toString();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/**
 * Parses a config file. Plain `key: value` lines need no YAML library, which would slow down every command; the library
 * is loaded for any other YAML, including JSON. The last of two equal keys wins, as in crictl. Rejects with
 * ConfigError.
 */
export async function parseConfigFile(source: string, dialect: ConfigFileDialect): Promise<ConfigFile> {
  const texts = await readConfigTexts(source, dialect);
  return Object.fromEntries(
    Array.from(texts, ([key, value]) => [key, parseConfigValue(key, value, dialect)]),
  );
}

/** Returns the texts of the options in a config file, all of which are valid. Rejects as parseConfigFile. */
export async function readConfigTexts(
  source: string,
  dialect: ConfigFileDialect,
): Promise<ReadonlyMap<ConfigKey, string>> {
  const texts = new Map<ConfigKey, string>();
  const unknown: string[] = [];
  const entries =
    plainEntries(source, dialect) ??
    (dialect.isLenient ? await yamlEntries(source) : await crictlEntries(source));
  for (const [key, value] of entries) {
    if (isConfigKey(key)) {
      if (value === '' && dialect.isLenient) continue;
      parseConfigValue(key, value, dialect);
      texts.set(key, value);
    } else if (dialect.isLenient) unknown.push(key);
    else dialect.onUnknown(key);
  }
  reportUnknownKeys(unknown, unknown.length < entries.length, {
    named: dialect.onUnknown,
    others: (count) => dialect.onMoreUnknown?.(count),
  });
  return texts;
}

type Entry = readonly [key: string, value: string];

/** Pattern of lines that have the same meaning as in YAML. */
const PLAIN_LINE =
  /^(["']?)([\w-]+)\1:(?:[ \t]+(?:"([^"\\]*)"|'([^']*)'|([-+]?[\w/~.]\S*(?<!:)))?)?(?:[ \t]+#.*)?[ \t]*$/;

/** Matches characters of which some are line breaks or not allowed in YAML, and tabs, which it rarely allows. */
const RARE = /[^\n\r\x20-\x7e]/;

function plainEntries(source: string, {isLenient}: ConfigFileDialect): Entry[] | undefined {
  if (!isLenient && RARE.test(source)) return undefined;
  const lines = source.split(/\r?\n/).filter((line) => !/^[ \t]*(#|$)/.test(line));
  if (/^---\s*$/.test(lines[0] ?? '')) lines.shift();
  const entries = lines.map((line) => PLAIN_LINE.exec(line)).filter((match) => match !== null);
  if (entries.length < lines.length) return undefined;
  return entries.map(([, , key = '', double, single, plain = '']) => [
    key,
    double ?? single ?? (isLenient && /^(~|null)$/i.test(plain) ? '' : plain),
  ]);
}

/** Returns the options of the first document, which must be a map. */
async function yamlEntries(source: string): Promise<Entry[]> {
  const {isAlias, isMap, isScalar, isSeq, visit} = await import('yaml');
  const {parseFirstYamlDocument, yamlErrorText} = await import('../../format/yaml/first-yaml-document.js');
  const {document} = parseFirstYamlDocument(source, {uniqueKeys: false});
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw new ConfigError(yamlErrorText(error), {cause: error});
  if (document !== undefined)
    visit(document, {
      Alias: (_, alias) => {
        if (alias.resolve(document) === undefined)
          throw new ConfigError(`yaml: unknown anchor '${alias.source}' referenced`);
      },
    });
  const text = (node: unknown): string => {
    if (isAlias(node)) return node.source;
    if (!isScalar(node)) return JSON.stringify(node ?? '');
    return node.value === null ? '' : (node.source ?? JSON.stringify(node.value));
  };
  const contents = document?.contents;
  if (isMap(contents)) return contents.items.map(({key, value}) => [text(key), text(value)]);
  const isEmpty = isSeq(contents)
    ? contents.items.length === 0
    : !isScalar(contents) || contents.value === null;
  if (!isEmpty) throw new ConfigError('must contain lines "option: value"');
  return [];
}

/** Returns the options that crictl finds: without a map none, or those of a list's pairs. */
async function crictlEntries(source: string): Promise<Entry[]> {
  const {parseGoYaml} = await import('../../format/go-yaml/parser.js');
  const parsed = parseGoYaml(source, 3);
  if ('error' in parsed) throw new ConfigError(parsed.error);
  const {root} = parsed;
  const nodes = root?.kind === 'map' ? root.entries.flat() : root?.kind === 'list' ? root.items : [];
  // crictl reads the name of an alias, not what it stands for, and the text of scalars, null too.
  const texts = nodes.map((node) => {
    if (node.kind === 'alias') return node.name;
    return node.kind === 'scalar' ? node.value : '';
  });
  return texts.flatMap((key, index) => {
    const value = texts[index + 1];
    return index % 2 === 0 && value !== undefined ? [[key, value]] : [];
  });
}

/** Parses the value of an option. Throws ConfigError with the dialect's text. */
export function parseConfigValue(key: ConfigKey, value: string, dialect: ConfigFileDialect): unknown {
  const parsed = PARSERS[CONFIG_OPTIONS[key]](value, dialect.isLenient);
  if (parsed === undefined) throw dialect.createValueError(key, value);
  return parsed;
}

const PARSERS = {
  text: (value: string) => value,
  integer,
  seconds: (value: string, lenient: boolean) => integer(value) ?? (lenient ? duration(value) : undefined),
  boolean,
} as const satisfies Record<OptionType, (value: string, lenient: boolean) => unknown>;

/** Matches an integer in decimal, which may be out of range. */
export const INTEGER = /^[-+]?\d+$/;

/** Parses a signed 64-bit integer in decimal, as Go's strconv.Atoi. */
function integer(value: string): number | undefined {
  if (!INTEGER.test(value)) return undefined;
  const number = BigInt(value.replace(/^\+/, ''));
  return BigInt.asIntN(64, number) === number ? Number(number) : undefined;
}

function duration(value: string): number | undefined {
  const nanos = parseDuration(value);
  return nanos === undefined ? undefined : Number(nanos) / 1e9;
}

/** Parses a boolean as Go's strconv.ParseBool. */
function boolean(value: string): boolean | undefined {
  if (/^(1|t|T|true|TRUE|True)$/.test(value)) return true;
  return /^(0|f|F|false|FALSE|False)$/.test(value) ? false : undefined;
}
