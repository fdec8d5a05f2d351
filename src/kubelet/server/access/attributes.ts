/** Who makes a request (authentication/user.Info). */
export interface User {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Who shows no certificate, where that is allowed. */
export const ANONYMOUS: User = {name: 'system:anonymous', groups: ['system:unauthenticated']};

/** What a request asks to do with the node (authorizer.Attributes); allowed when one of the subresources is. */
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

/** By a path's first part; what is not here is `proxy` (server/auth.go GetRequestAttributes). */
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

/** What a request asks for, in the words by which it is allowed: a verb on subresources of `nodes`. */
export function requestAttributes(method: string, [root = '']: readonly string[]): RequestAttributes {
  return {
    verb: VERBS[method] ?? '',
    subresources: Object.hasOwn(SUBRESOURCES, root) ? (SUBRESOURCES[root] ?? []) : ['proxy'],
  };
}

/** Whom the kubelet sends away, in its words. */
export function forbiddenText({name}: User, {verb, subresources}: RequestAttributes): string {
  return `Forbidden (user=${name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`;
}
