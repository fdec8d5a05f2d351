import {HttpError, type KubeletResponse, type KubeletRequest} from './kubelet-response.js';

/** Handler of a path pattern. */
export interface Route {
  /** Path such as `/run/{podNamespace}/{podID}/{containerName}`; a final `*` matches any number of segments. */
  readonly pattern: string;
  /** Allowed methods; undefined allows all. */
  readonly methods?: readonly string[];
  /**
   * How a kubelet registers the path: `exact` without the paths below it, or the root of its tree. Default: the first segment is
   * the root.
   */
  readonly registeredAs?: 'exact' | `/${string}`;
  readonly handle: (request: KubeletRequest) => Promise<KubeletResponse>;
}

/** Decoded segments of a path without its query; `trailing` is true if the path ends with a slash. */
export interface RequestPath {
  readonly parts: readonly string[];
  readonly trailing: boolean;
}

/**
 * Parses the path of a request. Throws HttpError 400 for an invalid path: `.` and `..` segments, empty segments,
 * escaped slashes or NULs, and invalid escapes.
 */
export function parseRequestPath(pathname: string): RequestPath {
  const [first, ...raw] = pathname.split('/');
  if (first !== '' || raw.length === 0) throw badPath();
  const trailing = raw.at(-1) === '';
  const parts = (trailing ? raw.slice(0, -1) : raw).map(decodeSegment);
  if (parts.some((part) => part === '' || part === '.' || part === '..' || /[/\0]/.test(part)))
    throw badPath();
  return {parts, trailing};
}

function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badPath();
  }
}

function badPath(): HttpError {
  return new HttpError(400, '400 Bad Request');
}

/** Route that matches a path, with the values of its path parameters. */
export interface MatchedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** Returns the route for the path and method. Throws HttpError 404 or 405 with the messages of the kubelet's router. */
export function findRoute(routes: readonly Route[], {parts}: RequestPath, method: string): MatchedRoute {
  const matches = routes.flatMap((route) => {
    const params = matchPattern(route.pattern, parts);
    return params === undefined ? [] : [{route, params}];
  });
  const allowed = matches.find(({route: {methods}}) => methods?.includes(method) ?? true);
  if (allowed !== undefined) return allowed;
  const [other] = matches;
  if (other === undefined) throw new HttpError(404, '404: Page Not Found');
  const {methods = []} = other.route;
  throw new HttpError(405, '405: Method Not Allowed', {allow: methods.join(', ')});
}

function matchPattern(
  pattern: string,
  parts: readonly string[],
): Readonly<Record<string, string>> | undefined {
  const names = pattern.split('/').slice(1);
  const isOpen = names.at(-1) === '*';
  const fixed = isOpen ? names.slice(0, -1) : names;
  if (isOpen ? parts.length < fixed.length : parts.length !== fixed.length) return undefined;
  const params: Record<string, string> = isOpen ? {'*': parts.slice(fixed.length).join('/')} : {};
  for (const [index, name] of fixed.entries()) {
    const part = parts[index] ?? '';
    if (name.startsWith('{')) params[name.slice(1, -1)] = part;
    else if (name !== part) return undefined;
  }
  return params;
}

/** Returns the path label of the kubelet's metrics: the first segment, or two below /metrics (getURLRootPath). */
export function urlRootPath({parts}: RequestPath): string {
  const [first = '', second] = parts;
  return first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
}
