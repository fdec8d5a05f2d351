/** Where an image is, for looking up who may have it. */
export interface ImagePlace {
  /** The registry's host and port; Docker's is `docker.io`. */
  readonly host: string;
  /** The repository's path there, without tag and digest. */
  readonly path: string;
}

/** Docker's registry has several names in credential files. */
const DOCKER_HUB: ReadonlySet<string> = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

/** The name of Docker's registry that credential helpers know. */
const DOCKER_HUB_URL = 'https://index.docker.io/v1/';

/** The registry and the repository of an image's name: the first part is a host when it looks like one. */
export function imagePlace(image: string): ImagePlace {
  const name = image.replace(/@.*$/, '').replace(/:[^:/]*$/, '');
  const slash = name.indexOf('/');
  const first = name.slice(0, Math.max(slash, 0));
  if (first === 'localhost' || /[.:]/.test(first))
    return {host: plainHost(first), path: name.slice(slash + 1)};
  return {host: 'docker.io', path: slash === -1 ? `library/${name}` : name};
}

/** How a credential helper is asked for a registry. */
export function helperServer(host: string): string {
  return host === 'docker.io' ? DOCKER_HUB_URL : host;
}

/**
 * How well a key of a credential file fits an image, more being better; undefined when it does not. A key is a
 * host, a host with the beginning of a path, or a URL of either; `*` stands for a part of a host's name, as the
 * kubelet has it.
 */
export function fitOf(key: string, {host, path}: ImagePlace): number | undefined {
  const [keyHost = '', ...parts] = key
    .replace(/^https?:\/\//, '')
    .replace(/\/+$/, '')
    .split('/');
  // Docker writes the version of the registry's API behind the host.
  const keyPath = parts.filter((part, index) => index > 0 || !/^v[12]$/.test(part));
  const wanted = path.split('/');
  if (keyPath.some((part, index) => part !== wanted[index])) return undefined;
  if (plainHost(keyHost) === host) return 2 * keyPath.length + 1;
  return keyHost.includes('*') && hostPattern(keyHost).test(host) ? 2 * keyPath.length : undefined;
}

function plainHost(host: string): string {
  return DOCKER_HUB.has(host) ? 'docker.io' : host;
}

function hostPattern(host: string): RegExp {
  return new RegExp(`^${host.replace(/[.+^$()|[\]{}\\?]/g, '\\$&').replaceAll('*', '[^.:]*')}$`);
}
