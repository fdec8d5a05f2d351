import {isDeepStrictEqual} from 'node:util';
import type {Document, Node, Pair, ParseOptions, Scalar, SchemaOptions, YAMLMap} from 'yaml';
import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError, UsageError} from '../../base/errors.js';
import {
  CONFIG_KEYS,
  CONFIG_OPTIONS,
  parseConfigValue,
  isConfigKey,
  createKcriConfigFileDialect,
  type ConfigKey,
} from '../../cli/settings/config-file.js';

/** Edits of the config file by `config`, which differ between kcri and crictl. */
export interface ConfigActions {
  get(key: string): Promise<string>;
  set(assignments: readonly string[]): Promise<void>;
  list(): Promise<string>;
  /** Handles `config KEY [VALUE]`, the form older than the flags. */
  legacy(key: string, value: string | undefined): Promise<string>;
}

/** Option and its new value, as text. */
export interface ConfigChange {
  readonly key: ConfigKey;
  readonly value: string;
}

/**
 * Returns the text of a config file with changed options. Comments, blank lines, quotes and order are preserved to the
 * byte; missing options are appended. Rejects with ConfigError if the text is not a config file, or if an option cannot
 * be changed in isolation.
 */
export async function editConfigFile(source: string, changes: readonly ConfigChange[]): Promise<string> {
  let text = source;
  for (const change of changes) {
    const edited = await editOne(text, change);
    await checkEdited(text, edited, change);
    text = edited;
  }
  return text;
}

/** Parses the edited text and rejects the change if any other value differs. */
async function checkEdited(before: string, after: string, {key, value}: ConfigChange): Promise<void> {
  const [old, read] = [await plainTexts(before), await plainTexts(after).catch(() => ({}))];
  if (isDeepStrictEqual(read, {...old, [key]: value})) return;
  throw new ConfigError(`cannot change "${key}" in the config file without changing other options`, {
    hint: `edit the file: ${key}: ${scalarText(key, value)}`,
  });
}

/** Returns the values of the file as they are written. */
async function plainTexts(source: string): Promise<object> {
  const document = await parseConfigDocument(source, {schema: 'failsafe'});
  return (document.toJS() as object | null) ?? {};
}

async function editOne(source: string, change: ConfigChange): Promise<string> {
  const {isScalar} = await import('yaml');
  const {key, value} = change;
  const map = await configMap(source);
  if (map === undefined) return `${endedLine(source)}${key}: ${scalarText(key, value)}\n`;
  const pairs = map.items.filter((pair) => isScalar(pair.key) && pair.key.value === key);
  if (pairs.length === 0) return added(source, map, change);
  // Replaces from the end, so that earlier offsets stay valid; replaces all duplicates, as crictl does.
  return pairs.reduceRight((text, pair) => replaced(text, pair, key, value), source);
}

/** Returns the options of a config file as YAML nodes; undefined if it has only comments. */
async function configMap(source: string): Promise<YAMLMap | undefined> {
  const {isMap} = await import('yaml');
  const {contents} = await parseConfigDocument(source);
  if (contents === null || isMap(contents)) return contents ?? undefined;
  throw new ConfigError('the config file must contain lines "option: value"');
}

/** Parses a config file as a YAML document with duplicate keys. Rejects with ConfigError. */
async function parseConfigDocument(
  source: string,
  options: ParseOptions & SchemaOptions = {},
): Promise<Document> {
  const {parseDocument} = await import('yaml');
  const document = parseDocument(source, {...options, uniqueKeys: false});
  const [error] = document.errors;
  if (error === undefined) return document;
  const {yamlErrorText} = await import('../../format/yaml/first-yaml-document.js');
  throw new ConfigError(`cannot parse the config file: ${yamlErrorText(error)}`);
}

function replaced(source: string, {key: name, value: old}: Pair, key: ConfigKey, value: string): string {
  const [start, end] = (old as Node | null)?.range ?? [];
  const text = scalarText(key, value, (old as Scalar | null)?.type);
  if (start !== undefined && end !== undefined && end > start) {
    // The range of a block includes the end of its last line.
    const [lineEnd = ''] = /\r?\n\s*$/.exec(source.slice(start, end)) ?? [];
    return source.slice(0, start) + text + lineEnd + source.slice(end);
  }
  // A `key:` without a value: the value follows the colon.
  const colon = source.indexOf(':', (name as Node).range?.[1]) + 1;
  return `${source.slice(0, colon)} ${text}${source.slice(colon)}`;
}

function added(source: string, map: YAMLMap, {key, value}: ConfigChange): string {
  if (map.flow !== true)
    return `${endedLine(source)}${indentOf(source, map)}${key}: ${scalarText(key, value)}\n`;
  const brace = (map.range?.[1] ?? 0) - 1;
  const before = source.slice(0, brace).trimEnd();
  const comma = before.endsWith('{') ? '' : before.endsWith(',') ? ' ' : ', ';
  const member = `"${key}": ${scalarText(key, value, 'QUOTE_DOUBLE')}`;
  return before + comma + member + source.slice(before.length);
}

function indentOf(source: string, map: YAMLMap): string {
  const start = map.range?.[0] ?? 0;
  return source.slice(source.lastIndexOf('\n', start - 1) + 1, start);
}

function endedLine(source: string): string {
  return source === '' || source.endsWith('\n') ? source : `${source}\n`;
}

/** Formats a value as YAML, with the quotes of the previous value. */
function scalarText(key: ConfigKey, value: string, quotes?: string): string {
  if (quotes === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`;
  const isText = CONFIG_OPTIONS[key] === 'text';
  if (isText && (quotes === 'QUOTE_DOUBLE' || !/^[\w/.+][\w/.:+@-]*$/.test(value) || value.endsWith(':')))
    return JSON.stringify(value);
  return quotes === 'QUOTE_DOUBLE' && !/^(-?\d+|true|false)$/.test(value) ? JSON.stringify(value) : value;
}

/** Returns the option with that name. Throws UsageError with crictl's text for an unknown name. */
export function requireConfigKey(name: string): ConfigKey {
  if (isConfigKey(name)) return name;
  const guess = findClosestMatch(name, CONFIG_KEYS);
  throw new UsageError(`no configuration option named ${name}`, {
    hint: guess === undefined ? `must be one of ${CONFIG_KEYS.join(', ')}` : `did you mean "${guess}"?`,
  });
}

/** Parses `KEY=VALUE` texts, each of which may contain several separated by commas. Throws UsageError. */
export function parseAssignments(texts: readonly string[]): ConfigChange[] {
  return texts
    .flatMap((text) => text.split(/,(?=[\w-]+=)/))
    .map((text) => {
      const [, key, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
      if (key !== undefined && value !== undefined) return parseConfigChange(key, value);
      throw new UsageError(`incorrectly specified option: ${text}`, {hint: 'use KEY=VALUE'});
    });
}

/** Parses the change of one option, with a value that crictl accepts too. Throws UsageError and ConfigError. */
export function parseConfigChange(name: string, value: string): ConfigChange {
  const key = requireConfigKey(name);
  const parsed = parseConfigValue(key, value, STRICT);
  // crictl may read the same file and accepts only whole seconds.
  if (key === 'timeout' && !Number.isInteger(parsed)) throw STRICT.createValueError(key, value);
  return {key, value: String(parsed)};
}

const STRICT = createKcriConfigFileDialect(() => undefined);
