import {HttpError, type Answer, type KubeletRequest} from './answer.js';

/** What is served at some paths. */
export interface Route {
  /** Such as `/run/{podNamespace}/{podID}/{containerName}`; a last part `*` stands for any number of parts. */
  readonly pattern: string;
  /** Undefined for all. */
  readonly methods?: readonly string[];
  readonly handle: (request: KubeletRequest) => Promise<Answer>;
}

/** A path without its query, in decoded parts; `trailing` says that it ends in a slash. */
export interface RequestPath {
  readonly parts: readonly string[];
  readonly trailing: boolean;
}

/**
 * The parts of a request's path. Throws HttpError 400 for one that is not as it should be: dots that lead elsewhere,
 * escapes that hide a slash or a NUL, empty parts, escapes that are none.
 */
export function requestPath(pathname: string): RequestPath {
  const [first, ...raw] = pathname.split('/');
  if (first !== '' || raw.length === 0) throw badPath();
  const trailing = raw.at(-1) === '';
  const parts = (trailing ? raw.slice(0, -1) : raw).map(decodedPart);
  if (parts.some((part) => part === '' || part === '.' || part === '..' || /[/\0]/.test(part)))
    throw badPath();
  return {parts, trailing};
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw badPath();
  }
}

function badPath(): HttpError {
  return new HttpError(400, '400 Bad Request');
}

/** A route that a path leads to. */
export interface MatchedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The route for the path and method. Throws HttpError in the words of the kubelet's router: 404, 405. */
export function findRoute(routes: readonly Route[], {parts}: RequestPath, method: string): MatchedRoute {
  const matches = routes.flatMap((route) => {
    const params = matched(route.pattern, parts);
    return params === undefined ? [] : [{route, params}];
  });
  const allowed = matches.find(({route: {methods}}) => methods?.includes(method) ?? true);
  if (allowed !== undefined) return allowed;
  const [other] = matches;
  if (other === undefined) throw new HttpError(404, '404: Page Not Found');
  const {methods = []} = other.route;
  throw new HttpError(405, '405: Method Not Allowed', {allow: methods.join(', ')});
}

function matched(pattern: string, parts: readonly string[]): Readonly<Record<string, string>> | undefined {
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

/** What the kubelet's metrics sort paths by: their first part, of metrics the second too (getURLRootPath). */
export function rootOf({parts}: RequestPath): string {
  const [first = '', second] = parts;
  return first === 'metrics' && second !== undefined ? `${first}/${second}` : first;
}
