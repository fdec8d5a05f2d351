import {ConfigError} from '../../../../base/errors.js';
import {findBase64Error} from '../../../../api/decoding/base64.js';
import {requireObject, parseSecretJson, type JsonFields} from './parse-json-object.js';

/** Login to a registry. */
export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
  readonly email: string;
}

/**
 * Logins by location, a registry or part of one as written in the config, such as `https://host/v1/` or `*.host/team`.
 */
export type DockerConfig = ReadonlyMap<string, RegistryLogin>;

/** File format of a docker config: config.json has the logins in `auths`, the older .dockercfg at the top level. */
export type DockerConfigFormat = 'config.json' | '.dockercfg';

/**
 * Parses a docker config like the kubelet (credentialprovider/config.go); undefined for a config.json without `auths`,
 * which may belong to another program.
 *
 * @throws ConfigError for an invalid config; its message contains nothing of the config.
 */
export function parseDockerConfig(text: string, format: DockerConfigFormat): DockerConfig | undefined {
  const json = requireObject(
    parseSecretJson(text, 'error occurred while trying to unmarshal json'),
    'the file is not an object',
  );
  if (format === '.dockercfg') return logins(json);
  const {auths} = json;
  return auths === undefined || auths === null
    ? undefined
    : logins(requireObject(auths, '"auths" is not an object'));
}

function logins(entries: JsonFields): DockerConfig {
  return new Map(Object.entries(entries).map(([location, entry]) => [location, login(location, entry)]));
}

function login(location: string, entry: unknown): RegistryLogin {
  const fields = requireObject(entry ?? {}, `the entry of ${JSON.stringify(location)} is not an object`);
  const text = (name: string): string => {
    const value = fields[name] ?? '';
    if (typeof value === 'string') return value;
    throw new ConfigError(`"${name}" in the entry of ${JSON.stringify(location)} is not a string`);
  };
  const auth = text('auth');
  const email = text('email');
  return auth === ''
    ? {username: text('username'), password: text('password'), email}
    : {...decodeAuth(auth), email};
}

/** Decodes `auth`, base64 of `username:password` with or without padding. */
function decodeAuth(auth: string): Pick<RegistryLogin, 'username' | 'password'> {
  const padding = auth.endsWith('=') ? '' : '='.repeat((4 - (auth.length % 4)) % 4);
  if (findBase64Error(auth + padding) !== undefined) throw new ConfigError('an "auth" field is not base64');
  const decoded = Buffer.from(auth, 'base64').toString();
  const colon = decoded.indexOf(':');
  if (colon === -1)
    throw new ConfigError('unable to parse auth field, must be formatted as base64(username:password)');
  return {username: decoded.slice(0, colon), password: decoded.slice(colon + 1)};
}
