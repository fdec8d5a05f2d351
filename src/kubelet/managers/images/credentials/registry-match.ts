import {matchesGlob} from '../../../../base/glob.js';

/** Parsed registry location without scheme, as in docker configs and matchImages of credential providers. */
interface RegistryLocation {
  /** Labels of the host name; in a pattern they may contain globs. */
  readonly labels: readonly string[];
  readonly port: string;
  /** Path with leading slash, or empty. */
  readonly path: string;
}

/**
 * Reports whether a pattern such as `registry.example`, `*.example:5000` or `registry.example/team` matches a
 * repository (credentialprovider URLsMatchStr): all labels of the host match, the ports are equal, and the path starts
 * with the pattern's. An invalid pattern matches nothing.
 */
export function matchesRepository(pattern: string, repository: string): boolean {
  const [glob, target] = [parseLocation(pattern), parseLocation(repository)];
  if (glob === undefined || target === undefined) return false;
  return (
    glob.port === target.port &&
    glob.labels.length === target.labels.length &&
    target.path.startsWith(glob.path) &&
    glob.labels.every((label, index) => matchesGlob(label, target.labels[index] ?? ''))
  );
}

/** Reports whether a text is a valid pattern of matchesRepository. */
export function isRegistryPattern(pattern: string): boolean {
  return parseLocation(pattern) !== undefined;
}

/**
 * Converts a location in a docker config to a pattern: removes the scheme and the version of the registry API
 * (BasicDockerKeyring Add). Undefined for an invalid location.
 */
export function toRegistryPattern(url: string): string | undefined {
  const location = splitLocation(url.replace(/^https?:\/\//, ''));
  if (location === undefined) return undefined;
  const path = /^\/v[12]\//.test(location.path) ? location.path.slice('/v1'.length) : location.path;
  return path === '/' ? location.host : `${location.host}${path}`;
}

function parseLocation(text: string): RegistryLocation | undefined {
  const location = splitLocation(text);
  if (location === undefined) return undefined;
  const [, host = location.host, port = ''] = HOST_AND_PORT.exec(location.host) ?? [];
  return {labels: host.replace(/^\[(.*)\]$/, '$1').split('.'), port, path: location.path};
}

const HOST_AND_PORT = /^(\[[^\]]*\]|[^:]*):(\d*)$/;

/** Splits a URL without scheme into host and path; user, query and fragment are dropped. */
function splitLocation(text: string): {readonly host: string; readonly path: string} | undefined {
  if (/[\s\u0000-\u001f\u007f]/.test(text)) return undefined;
  const [, authority = '', path = ''] = /^([^/?#]*)([^?#]*)/.exec(text) ?? [];
  const host = authority.slice(authority.lastIndexOf('@') + 1);
  const port = host
    .replace(/^\[[^\]]*\]/, '')
    .split(':')
    .slice(1);
  return port.length > 1 || port.some((digits) => !/^\d*$/.test(digits)) ? undefined : {host, path};
}
