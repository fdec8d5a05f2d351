import {readFileSync} from 'node:fs';
import {ConfigError, hasErrno, messageOf} from '../base/errors.js';

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

const OPTIONS = {
  'runtime-endpoint': text,
  'image-endpoint': text,
  timeout: integer,
  debug: boolean,
  'pull-image-on-create': boolean,
  'disable-pull-on-run': boolean,
  'max-retries': integer,
} as const satisfies Record<keyof ConfigFile, (value: string, key: string) => unknown>;

/**
 * The settings in a config file. A missing one is empty settings unless it was named by the user. Throws
 * ConfigError for a file that can't be read, a key that crictl does not know and a value of the wrong type.
 */
export function readConfigFile(path: string, named: boolean): ConfigFile {
  try {
    return parseConfigFile(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!named && hasErrno(error, 'ENOENT', 'ENOTDIR')) return {};
    throw new ConfigError(`get server config: reading "${path}": ${messageOf(error)}`, {
      cause: error,
      hint: named ? 'name another file with --config' : `correct or remove "${path}"`,
    });
  }
}

/**
 * The settings in the text of a config file: `key: value` lines, comments, quotes. The file is flat, so that
 * no YAML library is needed on the way to every command. The last of two equal keys counts, as in crictl.
 */
export function parseConfigFile(source: string): ConfigFile {
  const entries = source
    .split(/\r?\n/)
    .filter((line) => !/^\s*(#|---|$)/.test(line))
    .map(parseLine);
  return Object.fromEntries(entries);
}

function parseLine(line: string): readonly [string, unknown] {
  const [, key, quoted, plain] =
    /^\s*["']?([\w-]+)["']?\s*:(?:\s+(?:(".*"|'.*')|([^#]*?)))?(?:\s+#.*)?\s*$/.exec(line) ?? [];
  if (key === undefined) throw new ConfigError(`the line "${line.trim()}" is not "key: value"`);
  if (!Object.hasOwn(OPTIONS, key)) throw new ConfigError(`Config option '${key}' is not valid`);
  return [key, OPTIONS[key as keyof ConfigFile](quoted?.slice(1, -1) ?? plain ?? '', key)];
}

function text(value: string): string {
  return value;
}

function integer(value: string, key: string): number {
  if (!/^-?\d+$/.test(value))
    throw new ConfigError(`the value of '${key}' is not a whole number: "${value}"`);
  return Number(value);
}

function boolean(value: string, key: string): boolean {
  if (!/^(true|false)$/i.test(value))
    throw new ConfigError(`the value of '${key}' is neither true nor false: "${value}"`);
  return value.toLowerCase() === 'true';
}
