import {randomUUID} from 'node:crypto';
import type {ApiCall, Handler, Handlers} from './api-call.js';
import {answer, type RecordedRequest} from './api-request.js';
import {findDiscovery} from './discovery.js';
import {OBJECT_HANDLERS} from './object-handlers.js';
import {POD_HANDLERS} from './pod-handlers.js';
import type {ResourcePath} from './resource-path.js';
import {reviewHandlers} from './review-handlers.js';

/** Handlers of requests that differ from those of plain objects. */
const SPECIAL_HANDLERS: Handlers = {
  'POST serviceaccounts/token': issueToken,
  ...POD_HANDLERS,
  ...reviewHandlers(),
};

/** Returns the handler of a request; undefined for a list or watch of objects. `own` handlers precede those of all servers. */
export function findHandler(
  {request, target}: Pick<ApiCall, 'request' | 'target'>,
  own: Handlers,
): Handler | undefined {
  const {group, resource, subresource} = target;
  const key = `${request.method} ${[resource, subresource].filter((part) => part !== undefined).join('/')}`;
  return (
    findDiscovery(request) ??
    own[`${request.method} ${resource}.${group}`] ??
    own[key] ??
    SPECIAL_HANDLERS[key] ??
    (isList(request, target) ? undefined : OBJECT_HANDLERS[request.method])
  );
}

function isList({method}: RecordedRequest, {name, kind}: ResourcePath): boolean {
  return method === 'GET' && name === undefined && kind !== '';
}

function issueToken({request: {at, body = {}}, response}: ApiCall): void {
  const {expirationSeconds = 3600} = body['spec'] as {readonly expirationSeconds?: number};
  const expirationTimestamp = new Date(at + expirationSeconds * 1000).toISOString();
  answer(response, 201, {...body, status: {token: `token-${randomUUID()}`, expirationTimestamp}});
}
