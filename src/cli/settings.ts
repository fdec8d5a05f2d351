import {dirname, join, resolve} from 'node:path';
import {ConfigError, isSystemCallError, messageOf} from '../base/errors.js';
import {systemReason} from '../base/system-reason.js';
import {DEFAULT_TIMEOUT_MS} from '../cri/deadlines.js';
import {
  CONFIG_KEYS,
  CRICTL_DIALECT,
  ownDialect,
  parseConfigFile,
  readConfigText,
  type ConfigFile,
  type ConfigKey,
} from './config-file.js';
import type {CliContext} from './context.js';
import type {Values} from './parse.js';

/** What flags, environment and config file say together. */
export interface Settings {
  /** Undefined: look for a runtime. Empty when it was given so, which is an error for who needs it. */
  readonly runtimeEndpoint: string | undefined;
  /** Undefined: the runtime's endpoint. */
  readonly imageEndpoint: string | undefined;
  readonly timeoutMs: number;
  readonly debug: boolean;
  readonly pullImageOnCreate: boolean;
  readonly disablePullOnRun: boolean;
  /** How often to try again when nothing answers at the endpoint; `Infinity` for ever. */
  readonly maxRetries: number;
  /** Each option of the config file as it is in force, and what set it. */
  readonly options: readonly EffectiveOption[];
}

/** An option's value in force and what it comes from: a flag, a variable, a file, or `default`. */
export interface EffectiveOption {
  readonly key: ConfigKey;
  readonly value: string | number | boolean;
  readonly source: string;
}

/** How the config file is read. */
export interface SettingsOptions {
  /** A config file that the user named need not be there. */
  readonly mayBeMissing?: boolean;
  /** Told what the user should know of the config file. */
  readonly onWarning: (text: string) => void;
}

/** Where kcri keeps its pods' state, an absolute path: flag, environment, default. */
export function rootDir(flags: Values, env: CliContext['env']): string {
  // The runtime is told paths below it, and has another working directory.
  const given = text(flags['root-dir']) ?? env['KCRI_ROOT_DIR'] ?? '';
  return resolve(given === '' ? '/var/lib/kcri' : given);
}

/** The config file to use; `named` when the user said which. */
export function configPath(
  flags: Values,
  {env, defaultConfigFile}: CliContext,
): {path: string; named: boolean} {
  const given = text(flags['config']) ?? env['CRI_CONFIG_FILE'];
  return {path: given ?? defaultConfigFile, named: given !== undefined};
}

/**
 * The settings of one run: a flag before the environment before the config file before the default. Rejects
 * with ConfigError for a bad file, and for a missing one that the user named unless it `mayBeMissing`.
 */
export async function resolveSettings(
  flags: Values,
  context: CliContext,
  {mayBeMissing = false, onWarning}: SettingsOptions,
): Promise<Settings> {
  const wanted = {...configPath(flags, context), mayBeMissing, onWarning};
  const read = await (context.compat ? readAsCrictl : readOwn)(wanted, context);
  const option = (key: ConfigKey): EffectiveOption =>
    effective(key, {flags, read, env: context.env, defaults: context.compat ? CRICTL_DEFAULTS : DEFAULTS});
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

/** A config file that was read: its options, and the path of the one that was there. */
interface ReadFile {
  readonly options: ConfigFile;
  readonly path: string;
}

/** The config file to read. */
interface WantedFile extends SettingsOptions {
  readonly path: string;
  readonly named: boolean;
}

/** A missing file is empty unless it was named; an unknown option is a warning. */
async function readOwn(file: WantedFile, context: CliContext): Promise<ReadFile> {
  const {path: wanted, named, mayBeMissing, onWarning} = file;
  const dialect = ownDialect((warning) => {
    onWarning(`${wanted}: ${warning}`);
  });
  try {
    const {path, source} = findConfig(wanted, context);
    if (source === undefined && named && !mayBeMissing) throw new ConfigError('no such file or directory');
    return {options: await parseConfigFile(source ?? '', dialect), path};
  } catch (error) {
    throw new ConfigError(`get server config: reading "${wanted}": ${systemReason(error)}`, {
      cause: error,
      hint: named ? 'name another file with --config' : `correct or remove "${wanted}"`,
    });
  }
}

/**
 * As crictl: it tells of a missing file, and a broken one is an error only when it was named. Without a file
 * it tries a runtime again that does not answer, with one only when the file says so.
 */
async function readAsCrictl(file: WantedFile, context: CliContext): Promise<ReadFile> {
  const {path: wanted, named, mayBeMissing, onWarning} = file;
  try {
    const {path, source} = findConfig(wanted, context);
    if (path !== wanted || source === undefined)
      onWarning(`Config ${JSON.stringify(wanted)} does not exist, trying next: ${JSON.stringify(path)}`);
    if (source === undefined && mayBeMissing) return {options: {}, path: wanted};
    if (source === undefined) throw new ConfigError(`stat ${path}: no such file or directory`);
    const options = await parseConfigFile(source, CRICTL_DIALECT);
    return {options: {'max-retries': 0, ...options}, path};
  } catch (error) {
    if (named)
      throw new ConfigError(`get server config: load config file: ${goReason(wanted, error)}`, {
        cause: error,
      });
    return {options: {}, path: wanted};
  }
}

/** What Go says where Node.js has other words. */
const GO_WORDS: Readonly<Record<string, string>> = {EISDIR: 'is a directory'};

function goReason(path: string, error: unknown): string {
  if (!isSystemCallError(error)) return messageOf(error);
  const {syscall = '', code = ''} = error as NodeJS.ErrnoException;
  return `${syscall} ${path}: ${GO_WORDS[code] ?? systemReason(error)}`;
}

/** The file's text, or that of the one in the program's folder; undefined with the latter's path for neither. */
function findConfig(wanted: string, {program}: CliContext): {path: string; source: string | undefined} {
  const source = readConfigText(wanted);
  if (source !== undefined) return {path: wanted, source};
  const next = join(dirname(program.at(-1) ?? ''), 'crictl.yaml');
  return {path: next, source: readConfigText(next)};
}

type Defaults = Readonly<Record<ConfigKey, EffectiveOption['value']>>;

const DEFAULTS = {
  'runtime-endpoint': '',
  'image-endpoint': '',
  timeout: DEFAULT_TIMEOUT_MS / 1000,
  debug: false,
  'pull-image-on-create': false,
  'disable-pull-on-run': false,
  // Who waits for a runtime says so; everybody else wants to know at once that there is none.
  'max-retries': 0,
} as const satisfies Defaults;

const CRICTL_DEFAULTS = {...DEFAULTS, timeout: 2, 'max-retries': 3} as const satisfies Defaults;

const VARIABLES: Partial<Readonly<Record<ConfigKey, string>>> = {
  'runtime-endpoint': 'CONTAINER_RUNTIME_ENDPOINT',
  'image-endpoint': 'IMAGE_SERVICE_ENDPOINT',
};

interface Sources {
  readonly flags: Values;
  readonly env: CliContext['env'];
  readonly read: ReadFile;
  readonly defaults: Defaults;
}

function effective(key: ConfigKey, {flags, env, read, defaults}: Sources): EffectiveOption {
  const variable = VARIABLES[key];
  const given = [
    {value: flagValue(key, flags), source: `--${key}`},
    {value: variable === undefined ? undefined : env[variable], source: `$${variable ?? ''}`},
    {value: read.options[key], source: read.path},
  ];
  const first = given.find(({value, source}) => isMeant(key, value, source === read.path));
  // A time limit of nothing asks for the default.
  return first?.value === undefined || (key === 'timeout' && Number(first.value) <= 0)
    ? {key, value: defaults[key], source: 'default'}
    : {key, value: first.value, source: first.source};
}

/** No text is no endpoint, but for who gives one that is empty. */
function isMeant(key: ConfigKey, value: EffectiveOption['value'] | undefined, inFile: boolean): boolean {
  return value !== undefined && (value !== '' || (key === 'runtime-endpoint' && !inFile));
}

/** A flag's value in the unit of the file. */
function flagValue(key: ConfigKey, flags: Values): EffectiveOption['value'] | undefined {
  const value = flags[key] as EffectiveOption['value'] | undefined;
  return key === 'timeout' && typeof value === 'number' ? value / 1000 : value;
}

function givenText({value, source}: EffectiveOption): string | undefined {
  return source === 'default' ? undefined : String(value);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
