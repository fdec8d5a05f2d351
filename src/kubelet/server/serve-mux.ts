import {posix} from 'node:path';
import type {BufferedResponse} from './kubelet-response.js';
import type {Route} from './router.js';

/** Paths that have a handler, as in the ServeMux of Go below the kubelet's router (go-restful Container.Add and Handle). */
export class ServeMux {
  /** Paths without those below them. */
  readonly #exact = new Set<string>();
  /** Paths with those below them; with a final slash, the path without it is redirected. */
  readonly #trees = new Set<string>();

  /** `disabled` has the first segments of disabled endpoints. */
  constructor(routes: readonly Route[], disabled: Iterable<string>) {
    for (const {pattern, registeredAs = `/${pattern.split('/')[1] ?? ''}`} of routes)
      if (registeredAs === 'exact') this.#exact.add(pattern);
      else this.#trees.add(registeredAs);
    for (const root of disabled) this.#trees.add(`/${root}/`);
  }

  /** Returns the path to which a path is redirected: a cleaned one, or one with a final slash; undefined if it is not. */
  redirection(pathname: string): string | undefined {
    // Absolute URLs, which are for proxies, and other targets are refused later.
    if (!pathname.startsWith('/')) return undefined;
    const clean = cleanPath(pathname);
    const target = !this.has(clean) && this.#trees.has(`${clean}/`) ? `${clean}/` : clean;
    return target === pathname ? undefined : target;
  }

  /** Reports whether a path without redirection has a handler. */
  has(pathname: string): boolean {
    return (
      this.#exact.has(pathname) ||
      this.#trees.has(pathname) ||
      [...this.#trees].some((tree) => pathname.startsWith(tree.endsWith('/') ? tree : `${tree}/`))
    );
  }
}

/** Removes empty segments, `.` and `..` from a path, and keeps a final slash. */
function cleanPath(pathname: string): string {
  return posix.join('/', pathname);
}

const STATUS = 307;

/** Returns a redirect, which has a body for GET (http.Redirect). */
export function redirectResponse(location: string, method: string): BufferedResponse {
  const link = location.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  const isRead = method === 'GET' || method === 'HEAD';
  return {
    ...{kind: 'buffered', status: STATUS, headers: {location}},
    body: method === 'GET' ? `<a href="${link}">Temporary Redirect</a>.\n\n` : '',
    type: isRead ? 'text/html; charset=utf-8' : undefined,
  };
}
