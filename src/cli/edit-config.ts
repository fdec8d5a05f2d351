import {isDeepStrictEqual} from 'node:util';
import type {Document, Node, Pair, ParseOptions, Scalar, SchemaOptions, YAMLMap} from 'yaml';
import {closest} from '../base/closest.js';
import {ConfigError, UsageError} from '../base/errors.js';
import {
  CONFIG_KEYS,
  CONFIG_OPTIONS,
  configValue,
  isConfigKey,
  ownDialect,
  type ConfigKey,
} from './config-file.js';

/** What `config` does with the config file: in kcri's way, or in crictl's. */
export interface ConfigActions {
  get(key: string): Promise<string>;
  set(assignments: readonly string[]): Promise<void>;
  list(): Promise<string>;
  /** `config KEY [VALUE]`, from times before the flags. */
  legacy(key: string, value: string | undefined): Promise<string>;
}

/** An option and the value to give it, as text. */
export interface ConfigChange {
  readonly key: ConfigKey;
  readonly value: string;
}

/**
 * The text of a config file with options changed and everything else as it was to the byte: comments, blank
 * lines, quotes, the order. What is not there yet is added at the end. Throws ConfigError for a text that is no
 * config file, or in which an option can't be changed alone.
 */
export async function editConfig(source: string, changes: readonly ConfigChange[]): Promise<string> {
  let text = source;
  for (const change of changes) {
    const edited = await editOne(text, change);
    await checkEdited(text, edited, change);
    text = edited;
  }
  return text;
}

/** Reads the text again: rather no change than a file that says something else. */
async function checkEdited(before: string, after: string, {key, value}: ConfigChange): Promise<void> {
  const [old, read] = [await plainTexts(before), await plainTexts(after).catch(() => ({}))];
  if (isDeepStrictEqual(read, {...old, [key]: value})) return;
  throw new ConfigError(`the config file is written in a way in which "${key}" can't be changed alone`, {
    hint: `edit it by hand: ${key}: ${scalarText(key, value)}`,
  });
}

/** What the file says, its values as they are written. */
async function plainTexts(source: string): Promise<object> {
  const document = await configDocument(source, {schema: 'failsafe'});
  return (document.toJS() as object | null) ?? {};
}

async function editOne(source: string, change: ConfigChange): Promise<string> {
  const {isScalar} = await import('yaml');
  const {key, value} = change;
  const map = await configMap(source);
  if (map === undefined) return `${endedLine(source)}${key}: ${scalarText(key, value)}\n`;
  const pairs = map.items.filter((pair) => isScalar(pair.key) && pair.key.value === key);
  if (pairs.length === 0) return added(source, map, change);
  // From the end on, so that the places of the ones before stay right; all of equal ones, as crictl does.
  return pairs.reduceRight((text, pair) => replaced(text, pair, key, value), source);
}

/** The options of a config file as YAML nodes; undefined when there is nothing but comments. */
async function configMap(source: string): Promise<YAMLMap | undefined> {
  const {isMap} = await import('yaml');
  const {contents} = await configDocument(source);
  if (contents === null || isMap(contents)) return contents ?? undefined;
  throw new ConfigError('the config file does not say "option: value"');
}

/** A config file as a YAML document, in which keys may repeat. Throws ConfigError. */
export async function configDocument(
  source: string,
  options: ParseOptions & SchemaOptions = {},
): Promise<Document> {
  const {parseDocument} = await import('yaml');
  const document = parseDocument(source, {...options, uniqueKeys: false});
  const [error] = document.errors;
  if (error !== undefined) throw new ConfigError(`the config file: ${error.message.split('\n')[0] ?? ''}`);
  return document;
}

function replaced(source: string, {key: name, value: old}: Pair, key: ConfigKey, value: string): string {
  const [start, end] = (old as Node | null)?.range ?? [];
  const text = scalarText(key, value, (old as Scalar | null)?.type);
  if (start !== undefined && end !== undefined && end > start) {
    // A block's range has the end of its last line in it.
    const [lineEnd = ''] = /\r?\n\s*$/.exec(source.slice(start, end)) ?? [];
    return source.slice(0, start) + text + lineEnd + source.slice(end);
  }
  // `key:` without a value: it goes behind the colon.
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

/** A value as YAML, in the quotes of the one before it. */
function scalarText(key: ConfigKey, value: string, quotes?: string): string {
  if (quotes === 'QUOTE_SINGLE') return `'${value.replaceAll("'", "''")}'`;
  const isText = CONFIG_OPTIONS[key] === 'text';
  if (isText && (quotes === 'QUOTE_DOUBLE' || !/^[\w/.+][\w/.:+@-]*$/.test(value) || value.endsWith(':')))
    return JSON.stringify(value);
  return quotes === 'QUOTE_DOUBLE' && !/^(-?\d+|true|false)$/.test(value) ? JSON.stringify(value) : value;
}

/** The option of that name. Throws UsageError, in crictl's words, when there is none. */
export function knownKey(name: string): ConfigKey {
  if (isConfigKey(name)) return name;
  const guess = closest(name, CONFIG_KEYS);
  throw new UsageError(`no configuration option named ${name}`, {
    hint: guess === undefined ? `the options are ${CONFIG_KEYS.join(', ')}` : `did you mean "${guess}"?`,
  });
}

/** The changes in `KEY=VALUE` texts, each of which may hold several with commas between. Throws UsageError. */
export function parseAssignments(texts: readonly string[]): ConfigChange[] {
  return texts
    .flatMap((text) => text.split(/,(?=[\w-]+=)/))
    .map((text) => {
      const [, key, value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
      if (key !== undefined && value !== undefined) return checkedChange(key, value);
      throw new UsageError(`incorrectly specified option: ${text}`, {hint: 'write it as KEY=VALUE'});
    });
}

/** The change of one option, with its value as crictl reads it too. Throws UsageError and ConfigError. */
export function checkedChange(name: string, value: string): ConfigChange {
  const key = knownKey(name);
  const parsed = configValue(key, value, STRICT);
  // crictl, which may read the same file, knows whole seconds only.
  if (key === 'timeout' && !Number.isInteger(parsed)) throw STRICT.wrongValue(key, value);
  return {key, value: String(parsed)};
}

const STRICT = ownDialect(() => undefined);
