import type {User} from '../../contract/access-reviews.js';

/** Group of the anonymous user. */
export const UNAUTHENTICATED = 'system:unauthenticated';

/** User of requests without credentials, if anonymous requests are allowed. */
export const ANONYMOUS: User = {name: 'system:anonymous', groups: [UNAUTHENTICATED]};

/** Attributes of a request for authorization (authorizer.Attributes). One allowed subresource is sufficient. */
export interface RequestAttributes {
  readonly verb: string;
  readonly subresources: readonly string[];
}

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** Subresources by the first segment of the path; all others are `proxy` (server/auth.go GetRequestAttributes). */
const SUBRESOURCES: Readonly<Record<string, readonly string[]>> = {
  stats: ['stats'],
  metrics: ['metrics'],
  logs: ['log'],
  checkpoint: ['checkpoint'],
  statusz: ['statusz'],
  flagz: ['configz'],
  pods: ['pods', 'proxy'],
  runningpods: ['pods', 'proxy'],
  healthz: ['healthz', 'proxy'],
  configz: ['configz', 'proxy'],
};

/** Returns the verb and the subresources of `nodes` that a request needs (server/auth.go GetRequestAttributes). */
export function getRequestAttributes(method: string, [root = '']: readonly string[]): RequestAttributes {
  return {
    verb: VERBS[method] ?? '',
    subresources: Object.hasOwn(SUBRESOURCES, root) ? (SUBRESOURCES[root] ?? []) : ['proxy'],
  };
}

/** Formats the body of a 403 response as the kubelet does (server.go InstallAuthFilter). */
export function formatForbidden({name}: User, {verb, subresources}: RequestAttributes): string {
  return `Forbidden (user=${name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`;
}
