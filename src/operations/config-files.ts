import {randomUUID} from 'node:crypto';
import {closest} from '../base/closest.js';
import {ConfigError, hasErrno, isSystemCallError, KcriError, messageOf} from '../base/errors.js';
import {fromJson, podUid, type ContainerConfig, type Init, type PodSandboxConfig} from '../cri/index.js';
import {inspectedConfig} from './inspected-config.js';
import {readFileOrPipeText, type NamedText} from './read-text.js';

/** Told about everything in a file that is likely a mistake. */
export type OnWarning = (warning: string) => void;

/** How is told what is wrong with a config file. */
export interface ConfigWords {
  readonly wrong: (file: string, what: string) => string;
  readonly unreadable: (file: string, error: unknown) => string;
  /** Nothing for what isn't worth a warning. */
  readonly unknownField: (file: string, kind: string, key: string, guess?: string) => string | undefined;
  /** Nothing as well. */
  readonly lost: (file: string, what: string) => string | undefined;
  readonly noCgroupParent: (file: string) => string;
  /** What follows where a part of some metadata is missing. */
  readonly metadata: (metadata: Readonly<Record<string, unknown>>) => string;
}

const OWN_WORDS: ConfigWords = {
  wrong: (file, what) => `reading the config "${file}": ${what}`,
  unreadable: (file, error) => `reading the config "${file}": ${messageOf(error)}`,
  unknownField: (file, kind, key, guess) =>
    `${file}: unknown field "${key}" in the ${kind}, ignored${guess === undefined ? '' : `; did you mean "${guess}"?`}`,
  lost: (file, what) => `${file}: ${what}`,
  noCgroupParent: (file) => `${file}: cgroup_parent is not set; the runtime chooses the pod's cgroup`,
  metadata: () => '',
};

/**
 * A config file or pipe, read once: a pipe gives its text only once. Throws ConfigError, in crictl's words where it
 * has any, and the signal's reason.
 */
export async function readConfigText(
  file: string,
  signal: AbortSignal,
  words = OWN_WORDS,
): Promise<NamedText> {
  try {
    return {file, text: await readFileOrPipeText(file, signal)};
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) throw new ConfigError(`config at ${file} not found`, {cause: error});
    throw isExpected(error) ? new ConfigError(words.unreadable(file, error), {cause: error}) : error;
  }
}

/**
 * A container config from JSON or YAML as crictl takes it, with keys and enums in either style, or what `inspect`
 * prints of a container (inspected-config.ts). The image's name is noted as the one the user specified. Throws ConfigError, in crictl's words where it has any.
 */
export async function parseContainerConfig(
  source: NamedText,
  onWarning: OnWarning,
  words = OWN_WORDS,
): Promise<Init<ContainerConfig>> {
  const config = await parseConfig('ContainerConfig', source, {onWarning, words});
  const wrong = (what: string): ConfigError => new ConfigError(words.wrong(source.file, what));
  const {metadata, image} = config;
  if (metadata === undefined) throw wrong('metadata is not set');
  if ((metadata.name ?? '') === '') throw wrong(`name is not in metadata${words.metadata(metadata)}`);
  if (image === undefined) throw wrong('image is not set');
  if ((image.image ?? '') === '') throw wrong(`image field is not set in image${words.metadata(image)}`);
  return {...config, image: {...image, userSpecifiedImage: image.userSpecifiedImage ?? image.image}};
}

/**
 * A sandbox config from JSON or YAML as crictl takes it, or what `inspectp` prints. A missing UID is made up. Throws ConfigError.
 */
export async function parseSandboxConfig(
  source: NamedText,
  onWarning: OnWarning,
  words = OWN_WORDS,
): Promise<Init<PodSandboxConfig>> {
  const config = await parseConfig('PodSandboxConfig', source, {onWarning, words});
  const {file} = source;
  const wrong = (what: string): ConfigError => new ConfigError(words.wrong(file, what));
  if (config.metadata === undefined) throw wrong('metadata is not set');
  const {name = '', uid, namespace = '', ...rest} = config.metadata;
  const metadata = {name, uid: uid ?? podUid(randomUUID()), namespace, ...rest};
  if (name === '' || namespace === '')
    throw wrong(`name or namespace is not in metadata${words.metadata(metadata)}`);
  if (config.linux !== undefined && (config.linux.cgroupParent ?? '') === '')
    onWarning(words.noCgroupParent(file));
  return {...config, metadata};
}

interface Configs {
  readonly ContainerConfig: Init<ContainerConfig>;
  readonly PodSandboxConfig: Init<PodSandboxConfig>;
}

async function parseConfig<Name extends keyof Configs>(
  name: Name,
  {file, text}: NamedText,
  {onWarning, words}: {readonly onWarning: OnWarning; readonly words: ConfigWords},
): Promise<Configs[Name]> {
  const warn = (warning: string | undefined): void => {
    if (warning !== undefined) onWarning(warning);
  };
  const onUnknown = (key: string, known: readonly string[]): void => {
    warn(words.unknownField(file, name, key, closest(key.replace(/^.*\./, ''), known)));
  };
  const wrong = (error: unknown, what = messageOf(error)): ConfigError =>
    new ConfigError(words.wrong(file, what), {cause: error});
  const given = await parseText(text, wrong);
  try {
    const {data, lost} = inspectedConfig(name, given);
    if (lost !== undefined) warn(words.lost(file, lost));
    // Config files hold the values of env variables as they are, though the CRI's field is bytes.
    return fromJson(name, data, {onUnknown, bytes: 'text'});
  } catch (error) {
    throw isExpected(error) ? wrong(error) : error;
  }
}

async function parseText(
  text: string,
  wrong: (error: unknown, what: string) => ConfigError,
): Promise<unknown> {
  const {parse} = await import('yaml');
  try {
    return parse(text, {version: '1.1', intAsBigInt: true}) as unknown;
  } catch (error) {
    // Besides its own errors it throws plain ones, for aliases without an anchor or with a billion laughs.
    // The lines after the first show the place that it names.
    throw wrong(error, messageOf(error).replace(/:?\n[^]*/, ''));
  }
}

/** Whether an error is the file's; faults of the program are left as they are. */
function isExpected(error: unknown): boolean {
  return error instanceof KcriError || isSystemCallError(error);
}
