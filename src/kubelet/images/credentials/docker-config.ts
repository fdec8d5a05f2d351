import {ConfigError} from '../../../base/errors.js';
import {base64Fault} from '../../../api/base64.js';

/** Who somebody is to a registry. */
export interface RegistryLogin {
  readonly username: string;
  readonly password: string;
  readonly email: string;
}

/** Logins by the registry, or the part of one, that they are for: as written, such as `https://host/v1/` or `*.host/team`. */
export type DockerConfig = ReadonlyMap<string, RegistryLogin>;

/** What a docker config is written in: config.json has its logins under `auths`, the older .dockercfg has nothing else. */
export type DockerConfigFormat = 'config.json' | '.dockercfg';

/**
 * Reads a docker config as the kubelet does (credentialprovider/config.go); undefined for a config.json that has no
 * logins at all, which then is another program's file.
 *
 * @throws ConfigError that repeats nothing of the text.
 */
export function parseDockerConfig(text: string, format: DockerConfigFormat): DockerConfig | undefined {
  const json = members(parseJson(text), 'the file');
  if (format === '.dockercfg') return logins(json);
  const {auths} = json;
  return auths === undefined || auths === null ? undefined : logins(members(auths, '"auths"'));
}

function logins(entries: Members): DockerConfig {
  return new Map(Object.entries(entries).map(([location, entry]) => [location, login(location, entry)]));
}

function login(location: string, entry: unknown): RegistryLogin {
  const fields = members(entry ?? {}, `the entry of ${JSON.stringify(location)}`);
  const text = (name: string): string => {
    const value = fields[name] ?? '';
    if (typeof value === 'string') return value;
    throw new ConfigError(`"${name}" in the entry of ${JSON.stringify(location)} is not a text`);
  };
  const auth = text('auth');
  const email = text('email');
  return auth === ''
    ? {username: text('username'), password: text('password'), email}
    : {...decodeAuth(auth), email};
}

/** `auth` is base64 of `username:password`, with padding or without. */
function decodeAuth(auth: string): Pick<RegistryLogin, 'username' | 'password'> {
  const padding = auth.endsWith('=') ? '' : '='.repeat((4 - (auth.length % 4)) % 4);
  if (base64Fault(auth + padding) !== undefined) throw new ConfigError('an "auth" field is not base64');
  const decoded = Buffer.from(auth, 'base64').toString();
  const colon = decoded.indexOf(':');
  if (colon === -1)
    throw new ConfigError('unable to parse auth field, must be formatted as base64(username:password)');
  return {username: decoded.slice(0, colon), password: decoded.slice(colon + 1)};
}

type Members = Readonly<Record<string, unknown>>;

function members(value: unknown, what: string): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new ConfigError(`${what} is not an object`);
}

/** The JSON engine's own message shows what it could not read, which may be a password. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ConfigError('error occurred while trying to unmarshal json');
  }
}
