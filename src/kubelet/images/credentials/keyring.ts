import {createHash} from 'node:crypto';
import type {DockerConfig, RegistryLogin} from './docker-config.js';
import {coversRepository, patternOfLocation} from './registry-match.js';

/** The object of the API that a login comes from. */
export interface ObjectSource {
  /** Empty for one that no API server has named: then nothing but its content identifies it. */
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A docker config, and the Secret that it comes from; without one every pod of the node may use it. */
export interface SourcedDockerConfig {
  readonly config: DockerConfig;
  readonly secret?: ObjectSource | undefined;
}

/** A login that may let an image's pull in. */
export interface PullCredential {
  readonly login: RegistryLogin;
  readonly secret?: ObjectSource | undefined;
}

/** Docker's registry has this name in docker configs. */
const DOCKER_HUB = 'index.docker.io';

/**
 * The logins for a repository, the most specific location first, those of one location in the order given
 * (BasicDockerKeyring Lookup). Images of Docker's registry also take what is written for index.docker.io.
 */
export function lookUpLogins(
  configs: readonly SourcedDockerConfig[],
  repository: string,
): readonly PullCredential[] {
  const byPattern = new Map<string, PullCredential[]>();
  for (const {config, secret} of configs)
    for (const [location, login] of config) {
      const pattern = patternOfLocation(location);
      if (pattern !== undefined) byPattern.set(pattern, [...(byPattern.get(pattern) ?? []), {login, secret}]);
    }
  const found = [...byPattern.keys()]
    .filter((pattern) => coversRepository(pattern, repository))
    .sort()
    .reverse()
    .flatMap((pattern) => byPattern.get(pattern) ?? []);
  if (found.length > 0 || !/^(?:index\.)?docker\.io\//.test(repository)) return found;
  return byPattern.get(DOCKER_HUB) ?? [];
}

/** The hash by which pull records know a login again: of its JSON as Go writes it (hashAuthConfig). */
export function loginHash({username, password, email}: RegistryLogin): string {
  const fields = Object.entries({username, password, email}).filter(([, value]) => value !== '');
  // Go escapes what HTML would read.
  const json = JSON.stringify(Object.fromEntries(fields)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return createHash('sha256').update(json).digest('hex');
}
