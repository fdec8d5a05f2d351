import {matchesGlob} from '../../base/glob.js';

/** Registry and path of an image, for looking up credentials. */
export interface ImageRepository {
  /** Host and port of the registry; Docker Hub's is `docker.io`. */
  readonly host: string;
  /** Path of the repository in the registry, without tag and digest. */
  readonly path: string;
}

/** Names of Docker Hub in credential files. */
const DOCKER_HUB: ReadonlySet<string> = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** URL of Docker Hub for credential helpers. */
const DOCKER_HUB_URL = 'https://index.docker.io/v1/';

/**
 * Parses the registry and repository of an image name. The first part is a host if it contains a dot or colon, or is
 * localhost.
 */
export function parseImageRepository(image: string): ImageRepository {
  const name = image.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  if (first === 'localhost' || /[.:]/.test(first))
    return {host: plainHost(first), path: name.slice(slash + 1)};
  return {host: 'docker.io', path: slash === -1 ? `library/${name}` : name};
}

/** Returns the server name to pass to a credential helper. */
export function helperServer(host: string): string {
  return host === 'docker.io' ? DOCKER_HUB_URL : host;
}

/**
 * Returns how well a key of a credential file matches an image, higher being better; undefined if it does not match.
 * A key is a host, a host with a path prefix, or a URL of either; `*` matches a part of a host name, as in the
 * kubelet.
 */
export function matchScore(key: string, {host, path}: ImageRepository): number | undefined {
  const [keyHost = '', ...parts] = key
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .split('/');
  // Docker adds the version of the registry API to the host.
  const keyPath = parts.filter((part, index) => index > 0 || !/^v[12]$/.test(part));
  const wanted = path.split('/');
  if (keyPath.some((part, index) => part !== wanted[index])) return undefined;
  if (plainHost(keyHost) === host) return 2 * keyPath.length + 1;
  return keyHost.includes('*') && matchesHost(keyHost, host) ? 2 * keyPath.length : undefined;
}

function plainHost(host: string): string {
  return DOCKER_HUB.has(host) ? 'docker.io' : host;
}

/** Compares hosts part by part; `*` matches within a part. */
function matchesHost(pattern: string, host: string): boolean {
  const [wanted, parts] = [pattern.split(HOST_SEPARATORS), host.split(HOST_SEPARATORS)];
  return (
    wanted.length === parts.length && wanted.every((part, index) => matchesGlob(part, parts[index] ?? ''))
  );
}

/** Matches the separators of a host's parts, and captures them so that `split` keeps them. */
const HOST_SEPARATORS = /([.:])/;
