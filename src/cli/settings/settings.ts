import {dirname, resolve} from 'node:path';
import {childPath} from '../../base/fs/child-path.js';
import {ConfigError} from '../../base/errors.js';
import {systemErrorMessage} from '../../base/system-error-message.js';
import {DEFAULT_TIMEOUT_MS} from '../../cri/deadlines.js';
import {
  CONFIG_KEYS,
  createKcriConfigFileDialect,
  parseConfigFile,
  readConfigText,
  type ConfigFile,
  type ConfigKey,
} from './config-file.js';
import type {CliContext} from '../process/context.js';
import type {ParsedValues} from '../parsing/parse-values.js';

/** Effective settings from flags, environment and config file. */
export interface Settings {
  /**
   * Endpoint of the runtime. Undefined to search for one; empty if the user gave an empty one, an error for commands
   * that need it.
   */
  readonly runtimeEndpoint: string | undefined;
  /** Endpoint of the image service; undefined to use the runtime's. */
  readonly imageEndpoint: string | undefined;
  readonly timeoutMs: number;
  readonly debug: boolean;
  readonly pullImageOnCreate: boolean;
  readonly disablePullOnRun: boolean;
  /** Number of connection retries; may be `Infinity`. */
  readonly maxRetries: number;
  /** Effective value and source of each option of the config file. */
  readonly options: readonly EffectiveOption[];
}

/** Effective value of an option, and its source: a flag, a variable, a file, or `default`. */
export interface EffectiveOption {
  readonly key: ConfigKey;
  readonly value: string | number | boolean;
  readonly source: string;
}

/** Options of reading the config file. */
export interface SettingsOptions {
  /** True if a config file named by the user may be missing. */
  readonly mayBeMissing?: boolean;
  /** Receives warnings about the config file. */
  readonly onWarning: (text: string) => void;
  /** Reader of the config file and defaults; kcri's own unless given. */
  readonly source?: SettingsSource | undefined;
}

/** Reader of the config file, and the defaults of its options. */
export interface SettingsSource {
  readFile(file: FileRequest, context: CliContext): Promise<ReadFile>;
  readonly defaults: SettingDefaults;
}

/** Default of each option. */
export type SettingDefaults = Readonly<Record<ConfigKey, EffectiveOption['value']>>;

/** Returns the directory of kcri's state as an absolute path: flag, environment, default. */
export function resolveRootDir(
  flags: ParsedValues,
  env: CliContext['env'],
  fallback = '/var/lib/kcri',
): string {
  // The runtime receives paths below it and has another working directory.
  const given = text(flags['root-dir']) ?? env['KCRI_ROOT_DIR'] ?? '';
  return resolve(given === '' ? fallback : given);
}

/** Returns the config file to use; `named` if the user gave it. */
export function resolveConfigPath(
  flags: ParsedValues,
  {env, defaultConfigFile}: CliContext,
): {path: string; named: boolean} {
  const given = text(flags['config']) ?? env['CRI_CONFIG_FILE'];
  return {path: given ?? defaultConfigFile, named: given !== undefined};
}

/**
 * Returns the settings of one run; flags win over the environment, the config file and the defaults. Rejects with
 * ConfigError for an invalid file, and for a missing one given by the user unless `mayBeMissing`.
 */
export async function resolveSettings(
  flags: ParsedValues,
  context: CliContext,
  {mayBeMissing = false, onWarning, source = KCRI_SETTINGS_SOURCE}: SettingsOptions,
): Promise<Settings> {
  const wanted = {...resolveConfigPath(flags, context), mayBeMissing, onWarning};
  const read = await source.readFile(wanted, context);
  const option = (key: ConfigKey): EffectiveOption =>
    effective(key, {flags, read, env: context.env, defaults: source.defaults});
  const value = (key: ConfigKey): EffectiveOption['value'] => option(key).value;
  const retries = Number(value('max-retries'));
  return {
    runtimeEndpoint: givenText(option('runtime-endpoint')),
    imageEndpoint: givenText(option('image-endpoint')),
    timeoutMs: 1000 * Number(value('timeout')),
    debug: value('debug') === true,
    pullImageOnCreate: value('pull-image-on-create') === true,
    disablePullOnRun: value('disable-pull-on-run') === true,
    maxRetries: retries < 0 ? Infinity : retries,
    options: CONFIG_KEYS.map(option),
  };
}

/** Config file that was read: its options, and its path if it exists. */
export interface ReadFile {
  readonly options: ConfigFile;
  readonly path: string;
}

/** Config file to read. */
export interface FileRequest extends Pick<SettingsOptions, 'mayBeMissing' | 'onWarning'> {
  readonly path: string;
  readonly named: boolean;
}

/** Reads kcri's config file. A missing file is empty unless the user gave it; an unknown option is a warning. */
async function readOwn(file: FileRequest, context: CliContext): Promise<ReadFile> {
  const {path: wanted, named, mayBeMissing, onWarning} = file;
  const dialect = createKcriConfigFileDialect((warning) => {
    onWarning(`${wanted}: ${warning}`);
  });
  try {
    const {path, source} = await findConfigFile(wanted, context);
    if (source === undefined && named && !mayBeMissing) throw new ConfigError('no such file or directory');
    return {options: await parseConfigFile(source ?? '', dialect), path};
  } catch (error) {
    context.signal.throwIfAborted();
    throw new ConfigError(`get server config: reading "${wanted}": ${systemErrorMessage(error)}`, {
      cause: error,
      hint: named ? 'set --config to another file' : `correct or remove "${wanted}"`,
    });
  }
}

/**
 * Resolves with the text of the file, or of the one in the program's directory; undefined with the latter's path if neither
 * exists.
 */
export async function findConfigFile(
  wanted: string,
  {program, signal}: CliContext,
): Promise<{path: string; source: string | undefined}> {
  const source = await readConfigText(wanted, signal);
  if (source !== undefined) return {path: wanted, source};
  const next = childPath(dirname(program.at(-1) ?? ''), 'crictl.yaml');
  return {path: next, source: await readConfigText(next, signal)};
}

export const KCRI_SETTING_DEFAULTS = {
  'runtime-endpoint': '',
  'image-endpoint': '',
  timeout: DEFAULT_TIMEOUT_MS / 1000,
  debug: false,
  'pull-image-on-create': false,
  'disable-pull-on-run': false,
  // By default, a missing runtime is reported immediately; retrying is opt-in.
  'max-retries': 0,
} as const satisfies SettingDefaults;

/** Source of kcri's own settings. */
const KCRI_SETTINGS_SOURCE: SettingsSource = {readFile: readOwn, defaults: KCRI_SETTING_DEFAULTS};

const VARIABLES: Partial<Readonly<Record<ConfigKey, string>>> = {
  'runtime-endpoint': 'CONTAINER_RUNTIME_ENDPOINT',
  'image-endpoint': 'IMAGE_SERVICE_ENDPOINT',
};

interface Sources {
  readonly flags: ParsedValues;
  readonly env: CliContext['env'];
  readonly read: ReadFile;
  readonly defaults: SettingDefaults;
}

function effective(key: ConfigKey, {flags, env, read, defaults}: Sources): EffectiveOption {
  const variable = VARIABLES[key];
  const given = [
    {value: flagValue(key, flags), source: `--${key}`},
    {value: variable === undefined ? undefined : env[variable], source: `$${variable ?? ''}`},
    {value: read.options[key], source: read.path},
  ];
  const first = given.find(({value, source}) => isSet(key, value, source === read.path));
  // A timeout of 0 selects the default.
  return first?.value === undefined || (key === 'timeout' && Number(first.value) <= 0)
    ? {key, value: defaults[key], source: 'default'}
    : {key, value: first.value, source: first.source};
}

/**
 * Reports whether a value is set. An empty runtime endpoint counts as set only if a flag or the environment sets it.
 */
function isSet(key: ConfigKey, value: EffectiveOption['value'] | undefined, inFile: boolean): boolean {
  return value !== undefined && (value !== '' || (key === 'runtime-endpoint' && !inFile));
}

/** Returns the value of a flag in the unit of the file. */
function flagValue(key: ConfigKey, flags: ParsedValues): EffectiveOption['value'] | undefined {
  const given = flags[key] as EffectiveOption['value'] | readonly string[] | undefined;
  // As in crictl, the last endpoint wins.
  const value = typeof given === 'object' ? given.at(-1) : given;
  return key === 'timeout' && typeof value === 'number' ? value / 1000 : value;
}

function givenText({value, source}: EffectiveOption): string | undefined {
  return source === 'default' ? undefined : String(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
