import {writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import type {Document, Pair, Scalar, ScalarTag, Tags} from 'yaml';
import {ConfigError, messageOf} from '../../base/errors.js';
import {fileError, ifPresent} from '../../base/fs/files.js';
import {makeDirectoryPath} from '../../base/fs/make-directory-path.js';
import {readBoundedFile} from '../../base/fs/read-bounded-file.js';
import {renderTable} from '../../format/table.js';
import {
  CONFIG_KEYS,
  CONFIG_OPTIONS,
  isConfigKey,
  parseConfigValue,
  readConfigTexts,
  type ConfigFileDialect,
  type ConfigKey,
} from '../../cli/settings/config-file.js';
import {CRICTL_CONFIG_FILE_DIALECT, goParseError} from '../../cli/crictl/crictl-config-file.js';
import {trimSpace} from '../../cli/parsing/parse-values.js';
import {crictlScalarStyle} from './crictl-scalar-style.js';
import type {ConfigActions} from './edit-config-file.js';

/** Text of an option that the config file does not set, by its type. */
const ZEROS = {text: '', integer: '0', seconds: '0', boolean: 'false'} as const;

function zeroOf(key: ConfigKey): string {
  return ZEROS[CONFIG_OPTIONS[key]];
}

/** Values by option, as texts, since integers have more digits than a number. */
type Values = ReadonlyMap<ConfigKey, string>;

const CLEAR_SCREEN = '\x1b[2J\x1b[H';

/**
 * Creates the actions of `crictl config`. They show the content of the file, not the effective settings, create the
 * file before they read it, and always write all options. Rejects with ConfigError.
 */
export async function createCrictlConfigActions(
  path: string,
  inform: (text: string) => void,
): Promise<ConfigActions> {
  const found = (await ifPresent(() => readBoundedFile(path)))?.toString();
  const source = found ?? (await rewritten('', new Map()));
  if (found === undefined) await write(path, source);
  const texts = await readConfigTexts(source, CRICTL_CONFIG_FILE_DIALECT);
  const values = new Map(CONFIG_KEYS.map((key) => [key, canonicalText(key, texts.get(key) ?? zeroOf(key))]));
  const assign = (name: string, text: string): void => {
    const key = knownKey(name);
    parseConfigValue(key, text, COMMAND_LINE_DIALECT);
    values.set(key, canonicalText(key, text));
  };
  const store = async (): Promise<void> => {
    await write(path, await rewritten(source, values));
  };
  return {
    get: (key) => Promise.resolve(values.get(knownKey(key)) ?? ''),
    set: async (texts) => {
      for (const text of texts.flatMap((all) => all.split(',')).map(trimSpace)) {
        const [key, value, ...more] = text.split('=');
        if (key === undefined || value === undefined || more.length > 0)
          throw new ConfigError(`incorrectly specified option: ${text}`);
        assign(key, value);
      }
      await store();
    },
    list: () => Promise.resolve(CLEAR_SCREEN + renderTable(COLUMNS, [...values]).toString()),
    legacy: async (key, value = '') => {
      const what = `${JSON.stringify(key)} to value ${JSON.stringify(value)}`;
      inform(`No --get, --set or --list provided, setting key ${what}`);
      try {
        assign(key, value);
      } catch (error) {
        const doing = `set ${JSON.stringify(key)} to ${JSON.stringify(value)}`;
        throw new ConfigError(`${doing}: ${messageOf(error)}`, {cause: error});
      }
      await store();
      return '';
    },
  };
}

const COLUMNS = [
  {header: 'KEY', value: ([key]: [string, string]) => key},
  {header: 'VALUE', value: ([, value]: [string, string]) => value},
];

function knownKey(key: string): ConfigKey {
  if (isConfigKey(key)) return key;
  throw new ConfigError(`no configuration option named ${key}`);
}

const COMMAND_LINE_DIALECT: ConfigFileDialect = {
  ...CRICTL_CONFIG_FILE_DIALECT,
  createValueError: (wrong, value) =>
    new ConfigError(`parse ${wrong} value '${value}': ${goParseError(wrong, value)}`),
};

/** Returns a valid value as Go writes it. */
function canonicalText(key: ConfigKey, text: string): string {
  switch (CONFIG_OPTIONS[key]) {
    case 'boolean':
      return String(/^[1t]/i.test(text));
    case 'text':
      return text;
    default:
      return String(BigInt(text.replace(/^\+/, '')));
  }
}

/**
 * Returns the text of the file's first document with all options, in its own order and quotes. Preserves comments, drops
 * blank lines. As in crictl, a list holds options as pairs of items, and a scalar stays as it is.
 */
async function rewritten(source: string, values: Values): Promise<string> {
  const {
    Document: NewDocument,
    isMap,
    isScalar,
    isSeq,
    Pair: NewPair,
    visit,
    YAMLMap: NewMap,
  } = await import('yaml');
  const {parseFirstYamlDocument} = await import('../../format/yaml/first-yaml-document.js');
  const options = {uniqueKeys: false, customTags: keepingNumbers};
  const document = parseFirstYamlDocument(source, options).document ?? new NewDocument();
  const {contents} = document;
  const unchanged = scalarText(document, isScalar);
  if (unchanged !== undefined) return unchanged;
  const list = isSeq(contents) ? contents : undefined;
  const map = isMap(contents) ? contents : new NewMap();
  document.contents = list ?? map;
  const given =
    list === undefined ? map.items : pairsOf(list.items).map(([key, value]) => new NewPair(key, value));
  const isInFlow = (list ?? map).flow === true;
  for (const [key, added] of await assignOptions(given, values, isInFlow)) {
    if (list === undefined) map.add({key, value: added});
    else list.items.push(document.createNode(key), added);
  }
  visit(document, {
    Scalar: (_, node) => {
      node.spaceBefore = false;
    },
  });
  if (document.directives !== undefined) document.directives.docEnd = false;
  return document.toString({lineWidth: 0, flowCollectionPadding: false, indent: 4, directives: false});
}

/** Returns tags that write a number as it was read, for example `12e03`. */
function keepingNumbers(tags: Tags): Tags {
  return tags.map((tag) => {
    if (typeof tag === 'string' || !/:(int|float)$/.test(tag.tag)) return tag;
    const {stringify} = tag as ScalarTag;
    return {
      ...tag,
      stringify: (item, ...rest) => item.source ?? stringify?.(item, ...rest) ?? '',
    } as ScalarTag;
  });
}

/** Returns the text of a document with a scalar, also an empty one behind `---`; undefined for any other. */
function scalarText(
  document: Document.Parsed | Document,
  isScalar: (node: unknown) => node is Scalar,
): string | undefined {
  const {contents, directives} = document;
  if (isScalar(contents) && (contents.value !== null || contents.source !== '')) return document.toString();
  const isEmpty = contents === null || isScalar(contents);
  return isEmpty && directives?.docStart === true ? '\n' : undefined;
}

/** Sets the values of the given options, and returns the others with theirs. */
async function assignOptions(
  given: readonly Pair[],
  values: Values,
  isInFlow: boolean,
): Promise<readonly (readonly [key: string, value: Scalar])[]> {
  const {isScalar, Scalar: NewScalar} = await import('yaml');
  return CONFIG_KEYS.flatMap((key) => {
    const text = values.get(key) ?? zeroOf(key);
    const pairs = given.filter((pair) => isScalar(pair.key) && pair.key.value === key);
    for (const pair of pairs) if (isScalar(pair.value)) assignScalar(pair.value, {key, text, isInFlow});
    return pairs.length > 0 ? [] : [[key, styled(new NewScalar(yamlValue(key, text)), isInFlow)] as const];
  });
}

function yamlValue(key: ConfigKey, text: string): unknown {
  switch (CONFIG_OPTIONS[key]) {
    case 'boolean':
      return text === 'true';
    case 'text':
      return text;
    default:
      return BigInt(text);
  }
}

function pairsOf(items: readonly unknown[]): (readonly [key: unknown, value: unknown])[] {
  return items.flatMap((key, index) =>
    index % 2 === 0 && index + 1 < items.length ? [[key, items[index + 1]]] : [],
  );
}

/** Sets a scalar's value unless it has the same text already; a string remains one. */
function assignScalar(
  scalar: Scalar,
  {key, text, isInFlow}: {readonly key: ConfigKey; readonly text: string; readonly isInFlow: boolean},
): void {
  if (scalar.source === text) return;
  scalar.value = typeof scalar.value === 'string' ? text : yamlValue(key, text);
  delete scalar.source;
  if (scalar.type === undefined || scalar.type === 'PLAIN') styled(scalar, isInFlow);
}

/** Gives a string the quotes that crictl gives it. */
function styled(scalar: Scalar, isInFlow: boolean): Scalar {
  if (typeof scalar.value === 'string') scalar.type = crictlScalarStyle(scalar.value, isInFlow);
  return scalar;
}

async function write(path: string, text: string): Promise<void> {
  try {
    await makeDirectoryPath(dirname(path), 0o755);
    await writeFile(path, text, {mode: 0o600});
  } catch (error) {
    throw fileError('writing', path, error);
  }
}
