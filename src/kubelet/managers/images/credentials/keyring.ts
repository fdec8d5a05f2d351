import {createHash} from 'node:crypto';
import type {DockerConfig, RegistryLogin} from './docker-config.js';
import {matchesRepository, toRegistryPattern} from './registry-match.js';

/** API object that a login comes from. */
export interface ObjectSource {
  /** Empty for an object that does not come from an API server; only its content identifies it. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A docker config with its Secret. Without a Secret every pod of the node may use it. */
export interface SourcedDockerConfig {
  readonly config: DockerConfig;
  readonly secret?: ObjectSource | undefined;
}

/** A login to try for a pull, with its Secret. */
export interface PullCredential {
  readonly login: RegistryLogin;
  readonly secret?: ObjectSource | undefined;
}

/** Name of Docker Hub in docker configs. */
const DOCKER_HUB = 'index.docker.io';

/**
 * Returns the logins for a repository, the most specific location first, those of equal locations in the given order
 * (BasicDockerKeyring Lookup). Logins for index.docker.io also apply to images of Docker Hub.
 */
export function lookUpLogins(
  configs: readonly SourcedDockerConfig[],
  repository: string,
): readonly PullCredential[] {
  const byPattern = new Map<string, PullCredential[]>();
  for (const {config, secret} of configs)
    for (const [location, login] of config) {
      const pattern = toRegistryPattern(location);
      if (pattern !== undefined) byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), {login, secret}]);
    }
  const found = [...byPattern.keys()]
    .filter((pattern) => matchesRepository(pattern, repository))
    .sort()
    .reverse()
    .flatMap((pattern) => byPattern.get(pattern) ?? []);
  if (found.length > 0 || !/^(?:index\.)?docker\.io\//.test(repository)) return found;
  return byPattern.get(DOCKER_HUB) ?? [];
}

/** Returns the hash of a login in pull records: of its JSON as encoded by Go (hashAuthConfig). */
export function loginHash({username, password, email}: RegistryLogin): string {
  const fields = Object.entries({username, password, email}).filter(([, value]) => value !== '');
  // Go escapes characters that are special in HTML.
  const json = JSON.stringify(Object.fromEntries(fields)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return createHash('sha256').update(json).digest('hex');
}
