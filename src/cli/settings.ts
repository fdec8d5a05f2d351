import {resolve} from 'node:path';
import {ConfigError} from '../base/errors.js';
import {DEFAULT_TIMEOUT_MS} from '../cri/deadlines.js';
import {readConfigFile, type ConfigFile} from './config-file.js';
import type {CliContext} from './context.js';
import type {Values} from './parse.js';

/** What flags, environment and config file say together. */
export interface Settings {
  /** Undefined: look for a runtime. */
  readonly runtimeEndpoint: string | undefined;
  /** Undefined: the runtime's endpoint. */
  readonly imageEndpoint: string | undefined;
  readonly timeoutMs: number;
  readonly debug: boolean;
  readonly pullImageOnCreate: boolean;
  readonly disablePullOnRun: boolean;
}

/** Where kcri keeps its pods' state, an absolute path: flag, environment, default. */
export function rootDir(flags: Values, env: CliContext['env']): string {
  // The runtime is told paths below it, and has another working directory.
  const given = text(flags['root-dir']) ?? env['KCRI_ROOT_DIR'] ?? '';
  return resolve(given === '' ? '/var/lib/kcri' : given);
}

/**
 * The settings of one run: a flag before the environment before the config file before the default. Throws
 * ConfigError for a bad file, and for an endpoint that was given and is empty.
 */
export function resolveSettings(flags: Values, context: CliContext): Settings {
  const {env} = context;
  const file = configFile(flags, context);
  return {
    runtimeEndpoint: endpoint('runtime-endpoint', {flags, file, env: env['CONTAINER_RUNTIME_ENDPOINT']}),
    imageEndpoint: endpoint('image-endpoint', {flags, file, env: env['IMAGE_SERVICE_ENDPOINT']}),
    timeoutMs: timeoutMs(flags, file),
    debug: flags['debug'] === true || file.debug === true,
    pullImageOnCreate: file['pull-image-on-create'] === true,
    disablePullOnRun: file['disable-pull-on-run'] === true,
  };
}

function configFile(flags: Values, {env, defaultConfigFile}: CliContext): ConfigFile {
  const named = text(flags['config']) ?? env['CRI_CONFIG_FILE'];
  return readConfigFile(named ?? defaultConfigFile, named !== undefined);
}

interface Sources {
  readonly flags: Values;
  readonly file: ConfigFile;
  readonly env: string | undefined;
}

function endpoint(name: 'runtime-endpoint' | 'image-endpoint', sources: Sources): string | undefined {
  const given = text(sources.flags[name]) ?? sources.env;
  if (given === '' && name === 'runtime-endpoint')
    throw new ConfigError('--runtime-endpoint is not set', {
      hint: 'CONTAINER_RUNTIME_ENDPOINT or --runtime-endpoint is empty; give it a socket, or unset it to look for one',
    });
  const found = given ?? sources.file[name];
  return found === '' ? undefined : found;
}

function timeoutMs(flags: Values, file: ConfigFile): number {
  const flag = flags['timeout'];
  const given = typeof flag === 'number' ? flag : 1000 * (file.timeout ?? 0);
  return given > 0 ? given : DEFAULT_TIMEOUT_MS;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
