import {randomUUID} from 'node:crypto';
import type {Readable} from 'node:stream';
import {findClosestMatch} from '../../base/closest-match.js';
import {ConfigError, hasErrno, isSystemCallError, KcriError, messageOf} from '../../base/errors.js';
import {shorten} from '../../base/shorten.js';
import {reportUnknownKeys} from './unknown-keys.js';
import {fromJson, podUid, type ContainerConfig, type Init, type PodSandboxConfig} from '../../cri/index.js';
import {configFromInspect} from './config-from-inspect.js';
import {readFileOrPipeText, readStreamText, type NamedText} from '../manifests/read-text.js';

/** Called with a warning for everything in a file that is probably a mistake. */
export type OnWarning = (warning: string) => void;

/** Differences between kcri and crictl in how config files are read, with their texts. */
export interface ConfigMessages {
  readonly invalid: (file: string, what: string) => string;
  readonly unreadable: (file: string, error: unknown) => string;
  readonly noCgroupParent: (file: string) => string;
  /** Suffix of an error about incomplete metadata. */
  readonly metadata: (metadata: Readonly<Record<string, unknown>>) => string;
  /** Decodes a text instead of kcri. Rejects with ConfigError. */
  readonly decode?: <Name extends keyof Configs>(name: Name, text: string) => Promise<Configs[Name]>;
}

/** Maximum length of a key in a warning. */
const LONGEST_KEY = 100;

const KCRI_MESSAGES: ConfigMessages = {
  invalid: (file, what) => `invalid config "${file}": ${what}`,
  unreadable: (file, error) => `cannot read config "${file}": ${messageOf(error)}`,
  noCgroupParent: (file) => `${file}: cgroup_parent is not set; the runtime chooses the pod's cgroup`,
  metadata: () => '',
};

/**
 * Reads a config file or pipe once, since a pipe can only be read once. Rejects with ConfigError, with crictl's text
 * where it has one, and with the signal's reason.
 */
export async function readConfigText(
  file: string,
  signal: AbortSignal,
  messages = KCRI_MESSAGES,
): Promise<NamedText> {
  return await explainFailure(file, messages, readFileOrPipeText(file, signal));
}

/** Reads a config from a stream, such as standard input. Rejects as readConfigText. */
export async function readConfigStream(
  {file, stream}: {readonly file: string; readonly stream: Readable},
  signal: AbortSignal,
  messages = KCRI_MESSAGES,
): Promise<NamedText> {
  return await explainFailure(file, messages, readStreamText(stream, file, signal));
}

async function explainFailure(
  file: string,
  messages: ConfigMessages,
  reading: Promise<string>,
): Promise<NamedText> {
  try {
    return {file, text: await reading};
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) throw new ConfigError(`config at ${file} not found`, {cause: error});
    throw isExpected(error) ? new ConfigError(messages.unreadable(file, error), {cause: error}) : error;
  }
}

/**
 * Parses a container config in JSON or YAML as crictl does, with keys and enums in either style, or the output of
 * `inspect` (config-from-inspect.ts). Sets the user-specified image to the image's name. Rejects with ConfigError,
 * with crictl's text where it has one.
 */
export async function parseContainerConfig(
  source: NamedText,
  onWarning: OnWarning,
  messages = KCRI_MESSAGES,
): Promise<Init<ContainerConfig>> {
  const config = await parseConfig('ContainerConfig', source, {onWarning, messages});
  const wrong = (what: string): ConfigError => new ConfigError(messages.invalid(source.file, what));
  const {metadata, image} = config;
  if (metadata === undefined) throw wrong('metadata is not set');
  if ((metadata.name ?? '') === '') throw wrong(`name is not in metadata${messages.metadata(metadata)}`);
  if (image === undefined) throw wrong('image is not set');
  if ((image.image ?? '') === '') throw wrong(`image field is not set in image${messages.metadata(image)}`);
  return {...config, image: {...image, userSpecifiedImage: image.userSpecifiedImage ?? image.image}};
}

/**
 * Parses a sandbox config in JSON or YAML as crictl does, or the output of `inspectp`. Generates a missing UID.
 * Rejects with ConfigError.
 */
export async function parseSandboxConfig(
  source: NamedText,
  onWarning: OnWarning,
  messages = KCRI_MESSAGES,
): Promise<Init<PodSandboxConfig>> {
  const config = await parseConfig('PodSandboxConfig', source, {onWarning, messages});
  const {file} = source;
  const wrong = (what: string): ConfigError => new ConfigError(messages.invalid(file, what));
  if (config.metadata === undefined) throw wrong('metadata is not set');
  const {name = '', uid, namespace = '', ...rest} = config.metadata;
  const metadata = {name, uid: uid ?? podUid(randomUUID()), namespace, ...rest};
  if (name === '' || namespace === '')
    throw wrong(`name or namespace is not in metadata${messages.metadata(metadata)}`);
  if (config.linux !== undefined && (config.linux.cgroupParent ?? '') === '')
    onWarning(messages.noCgroupParent(file));
  return {...config, metadata};
}

/** Messages that config files contain. */
export interface Configs {
  readonly ContainerConfig: Init<ContainerConfig>;
  readonly PodSandboxConfig: Init<PodSandboxConfig>;
}

async function parseConfig<Name extends keyof Configs>(
  name: Name,
  {file, text}: NamedText,
  {onWarning, messages}: {readonly onWarning: OnWarning; readonly messages: ConfigMessages},
): Promise<Configs[Name]> {
  if (messages.decode !== undefined) return await messages.decode(name, text);
  const unknown: (readonly [key: string, known: readonly string[]])[] = [];
  const onUnknown = (key: string, known: readonly string[]): void => {
    unknown.push([key, known]);
  };
  const reportUnknown = (hasKnownKeys: boolean): void => {
    reportUnknownKeys(unknown, hasKnownKeys, {
      named: ([key, known]) => {
        const guess = findClosestMatch(key.replace(/^.*\./, ''), known);
        const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
        onWarning(`${file}: unknown field "${shorten(key, LONGEST_KEY)}" in the ${name}, ignored${hint}`);
      },
      others: (count) => {
        onWarning(`${file}: ${count} more unknown field${count === 1 ? '' : 's'} in the ${name}, ignored`);
      },
    });
  };
  const wrong = (error: unknown, what = messageOf(error)): ConfigError =>
    new ConfigError(messages.invalid(file, what), {cause: error});
  const {document, hasMore} = await parseFirstDocument(text, wrong);
  if (hasMore) onWarning(`${file}: only the first document is used`);
  try {
    const {data, incompleteReason} = configFromInspect(name, document);
    if (incompleteReason !== undefined) onWarning(`${file}: ${incompleteReason}`);
    // Config files contain the values of environment variables as text, though the CRI field is bytes.
    const config: Configs[Name] = fromJson(name, data, {onUnknown, bytes: 'text'});
    reportUnknown(Object.keys(config).length > 0);
    return config;
  } catch (error) {
    reportUnknown(true);
    throw isExpected(error) ? wrong(error) : error;
  }
}

interface FirstDocument {
  /** Plain data; an empty object if there is no document or only `null`. */
  readonly document: unknown;
  /** True if the text continues after the document. */
  readonly hasMore: boolean;
}

/** Parses the first document of a text. */
async function parseFirstDocument(
  text: string,
  wrong: (error: unknown, what: string) => ConfigError,
): Promise<FirstDocument> {
  const {parseFirstYamlDocument, yamlErrorText} = await import('../../format/yaml/first-yaml-document.js');
  const {document, hasMore} = parseFirstYamlDocument(text, {version: '1.1', intAsBigInt: true});
  try {
    const [error] = document?.errors ?? [];
    if (error !== undefined) throw error;
    return {document: (document?.toJS() as unknown) ?? {}, hasMore};
  } catch (error) {
    // The library also throws plain errors, for unknown aliases and too many of them.
    throw wrong(error, yamlErrorText(error));
  }
}

/** Reports whether an error is caused by the file. Programming errors are rethrown. */
function isExpected(error: unknown): boolean {
  return error instanceof KcriError || isSystemCallError(error);
}
