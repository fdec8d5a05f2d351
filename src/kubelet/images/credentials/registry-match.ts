/** A registry, or a part of one, as credentials and providers name it; without a scheme. */
interface RegistryPlace {
  /** The host's labels, which in a pattern may hold globs. */
  readonly labels: readonly string[];
  readonly port: string;
  /** With its leading slash, or empty. */
  readonly path: string;
}

/**
 * True when a pattern such as `registry.example`, `*.example:5000` or `registry.example/team` covers an image's
 * repository: as many labels in the host, each matching, the same port, and a path that begins with the pattern's
 * (credentialprovider URLsMatchStr). A pattern that can't be read covers nothing.
 */
export function coversRepository(pattern: string, repository: string): boolean {
  const [glob, target] = [parsePlace(pattern), parsePlace(repository)];
  if (glob === undefined || target === undefined) return false;
  return (
    glob.port === target.port &&
    glob.labels.length === target.labels.length &&
    target.path.startsWith(glob.path) &&
    glob.labels.every((label, index) => matchesGlob(label, target.labels[index] ?? ''))
  );
}

/** True for what can be a pattern of coversRepository. */
export function isRegistryPattern(pattern: string): boolean {
  return parsePlace(pattern) !== undefined;
}

/**
 * The pattern that a location in a docker config stands for: without scheme, and without the version of the registry's
 * API that Docker writes behind the host (BasicDockerKeyring Add). Undefined for what can't be read.
 */
export function patternOfLocation(location: string): string | undefined {
  const place = splitPlace(location.replace(/^https?:\/\//, ''));
  if (place === undefined) return undefined;
  const path = /^\/v[12]\//.test(place.path) ? place.path.slice('/v1'.length) : place.path;
  return path === '/' ? place.host : `${place.host}${path}`;
}

function parsePlace(text: string): RegistryPlace | undefined {
  const place = splitPlace(text);
  if (place === undefined) return undefined;
  const [, host = place.host, port = ''] = HOST_AND_PORT.exec(place.host) ?? [];
  return {labels: host.replace(/^\[(.*)\]$/, '$1').split('.'), port, path: place.path};
}

const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*):(\d*)$/;

/** Host and path of a URL without a scheme; queries, fragments and user names are no part of either. */
function splitPlace(text: string): {readonly host: string; readonly path: string} | undefined {
  if (/[\s\u0000-\u001f\u007f]/.test(text)) return undefined;
  const [, authority = '', path = ''] = /^([^/?#]*)([^?#]*)/.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const port = host
    .replace(/^\[[^\]]*\]/, '')
    .split(':')
    .slice(1);
  return port.length > 1 || port.some((digits) => !/^\d*$/.test(digits)) ? undefined : {host, path};
}

/** `*` stands for any part of one label. */
function matchesGlob(glob: string, label: string): boolean {
  const pattern = glob.replace(/[\\^$.+?()[\]{}|]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${pattern}$`, 's').test(label);
}
