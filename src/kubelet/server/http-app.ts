import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';
import type {FileLogger} from '../../base/logger.js';
import {abortable} from '../../base/async/abortable.js';
import {TooManyReviewsError, type User} from '../contract/access-reviews.js';
import type {KubeletTracer} from '../contract/observation/kubelet-tracer.js';
import type {Authenticate} from './auth/authenticate.js';
import {AuthorizationError, type Authorize} from './auth/authorize.js';
import {formatForbidden, getRequestAttributes, type RequestAttributes} from './auth/request-attributes.js';
import {
  HttpError,
  PLAIN_TEXT,
  errorResponse,
  type BufferedResponse,
  type KubeletResponse,
  type KubeletRequest,
} from './kubelet-response.js';
import type {Exchange, Upgrade} from '../../http-server/request-server.js';
import type {ServerOptions} from './http-server-options.js';
import {redirectResponse, ServeMux} from './serve-mux.js';
import {findRoute, parseRequestPath, urlRootPath, type RequestPath, type Route} from './router.js';
import {describeRoute, traceResponse} from './trace-response.js';

/** Options of the HTTP application of a port. */
export interface HttpAppOptions extends Pick<ServerOptions, 'logger' | 'metrics' | 'clock'> {
  readonly routes: readonly Route[];
  /** Message of the 405 response by the first path segment, for disabled endpoints. */
  readonly disabled: ReadonlyMap<string, string>;
  /** Authentication and authorization; undefined on a port without them. */
  readonly access: {readonly authenticate: Authenticate; readonly authorize: Authorize} | undefined;
  /** Traces authorized requests; by default they are not traced. */
  readonly tracer?: Pick<KubeletTracer, 'startRequest'> | undefined;
}

const METHODS: ReadonlySet<string> = new Set([
  'OPTIONS',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'TRACE',
  'CONNECT',
]);
const LONG_RUNNING: ReadonlySet<string> = new Set(['exec', 'attach', 'portForward', 'debug']);

/** Handles the requests of a port: authenticates, authorizes, routes and responds. */
export class HttpApp {
  readonly #options: HttpAppOptions;
  readonly #logger: FileLogger;
  readonly #roots: ReadonlySet<string>;
  readonly #mux: ServeMux;

  constructor(options: HttpAppOptions) {
    this.#options = options;
    this.#logger = options.logger.forFile('http-app.ts');
    this.#mux = new ServeMux(options.routes, options.disabled.keys());
    this.#roots = new Set([
      ...options.disabled.keys(),
      ...options.routes.map(({pattern}) => pattern.split('/')[1] ?? ''),
    ]);
  }

  /** Responds to a request. Never rejects. */
  async respond({request, response, socket, signal, upgrade}: Exchange): Promise<void> {
    const startedAt = performance.now();
    const target = parseTarget(request);
    const done = this.#recordRequest(request, target?.path);
    try {
      const canUpgrade = upgrade !== undefined;
      const result = await this.#handle(target, {raw: request, socket, signal, canUpgrade});
      await send(result, response, upgrade);
    } catch (error) {
      if (!signal.aborted) this.#sendError(error, {request, response, socket});
    } finally {
      done((performance.now() - startedAt) / 1000);
      if (!response.writableEnded && upgrade === undefined) response.destroy();
    }
  }

  async #handle(
    target: Target | undefined,
    {socket, ...request}: Pick<KubeletRequest, 'raw' | 'signal' | 'canUpgrade'> & Pick<Exchange, 'socket'>,
  ): Promise<KubeletResponse> {
    const {method = '', url = ''} = request.raw;
    const [pathname = '', ...search] = url.split(/(?=\?)/);
    const redirection = this.#mux.redirection(pathname);
    if (redirection !== undefined) return redirectResponse(`${redirection}${search.join('')}`, method);
    if (target === undefined) throw new HttpError(400, '400 Bad Request');
    const {path, query} = target;
    if (!this.#mux.has(pathname)) return errorResponse(404, '404 page not found');
    await abortable(this.#authorize(request.raw, path, socket), request.signal);
    const {tracer} = this.#options;
    const respond = async (): Promise<KubeletResponse> =>
      await this.#respond({...request, method, query}, path);
    if (tracer === undefined) return await respond();
    const span = tracer.startRequest({
      raw: request.raw,
      socket,
      ...describeRoute(this.#options, path, method),
    });
    return await traceResponse(span, respond);
  }

  async #respond(request: Omit<KubeletRequest, 'params'>, path: RequestPath): Promise<KubeletResponse> {
    const disabled = this.#options.disabled.get(path.parts[0] ?? '');
    if (disabled !== undefined) return errorResponse(405, disabled);
    const {route, params} = findRoute(this.#options.routes, path, request.method);
    return await route.handle({...request, params});
  }

  /**
   * Rejects with HttpError 401 or 403 if the request is not allowed, 500 if its authorization is unknown, and 429 if too
   * many others wait for a review (InstallAuthFilter).
   */
  async #authorize(request: IncomingMessage, path: RequestPath, socket: Socket): Promise<void> {
    const {access} = this.#options;
    if (access === undefined) return;
    const user = await access.authenticate(request, socket).catch((error: unknown) => {
      rejectIfBusy(error);
      this.#logger.error(error, 'Unable to authenticate the request due to an error');
      return undefined;
    });
    if (user === undefined) throw new HttpError(401, 'Unauthorized');
    const attributes = getRequestAttributes(request.method ?? '', path.parts);
    if (await this.#isAllowed(user, attributes, access.authorize)) return;
    const {verb, subresources} = attributes;
    this.#logger.info(
      'Forbidden',
      {user: user.name, verb, resource: 'nodes', 'subresource(s)': subresources},
      2,
    );
    throw new HttpError(403, formatForbidden(user, attributes));
  }

  async #isAllowed(user: User, attributes: RequestAttributes, authorize: Authorize): Promise<boolean> {
    try {
      return await authorize(user, attributes);
    } catch (error) {
      if (!(error instanceof AuthorizationError)) throw error;
      const {cause, message} = error;
      rejectIfBusy(cause);
      this.#logger.error(cause, 'Authorization error', {user: user.name, verb: attributes.verb});
      throw new HttpError(500, message);
    }
  }

  /** Counts the request; the returned function records its duration. */
  #recordRequest({method = ''}: IncomingMessage, path: RequestPath | undefined): (seconds: number) => void {
    const root = path === undefined || !this.#roots.has(path.parts[0] ?? '') ? 'other' : metricPath(path);
    return this.#options.metrics.http.startRequest({
      method: METHODS.has(method) ? method : 'other',
      path: root,
      serverType: this.#options.access === undefined ? 'readonly' : 'readwrite',
      longRunning: LONG_RUNNING.has(root),
    });
  }

  #sendError(error: unknown, {request, response, socket}: Omit<Exchange, 'signal'>): void {
    const {method, url = ''} = request;
    const httpError = error instanceof HttpError ? error : undefined;
    if (httpError === undefined) {
      const [path = ''] = url.split('?');
      this.#logger.error(error, 'Failed to serve request', {
        method,
        path,
        from: addressOf(socket),
      });
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const status = httpError?.status ?? 500;
    const body = httpError?.message ?? 'internal server error';
    sendBuffered(response, {status, body, headers: httpError?.headers});
  }
}

/** Seconds after which a client is to try again when too many reviews are in progress. */
const RETRY_AFTER_SECONDS = 1;

function rejectIfBusy(error: unknown): void {
  if (error instanceof TooManyReviewsError)
    throw new HttpError(429, 'Too many requests, please try again later.', {
      'retry-after': String(RETRY_AFTER_SECONDS),
    });
}

/** Paths below /metrics that are label values; clients must not be able to create more series. */
const METRICS_PATHS: ReadonlySet<string> = new Set([
  'metrics',
  'metrics/cadvisor',
  'metrics/resource',
  'metrics/probes',
  'metrics/slis',
]);

function metricPath(path: RequestPath): string {
  const root = urlRootPath(path);
  return !root.startsWith('metrics') || METRICS_PATHS.has(root) ? root : 'other';
}

interface Target {
  readonly path: RequestPath;
  readonly query: URLSearchParams;
}

/** Parses the target of a request. Returns undefined for an invalid path. */
function parseTarget({url = ''}: IncomingMessage): Target | undefined {
  const queryStart = url.indexOf('?');
  try {
    return {
      path: parseRequestPath(queryStart === -1 ? url : url.slice(0, queryStart)),
      query: new URLSearchParams(queryStart === -1 ? '' : url.slice(queryStart + 1)),
    };
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

function addressOf({remoteAddress = '', remotePort = 0}: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

async function send(
  result: KubeletResponse,
  response: ServerResponse,
  upgrade: Upgrade | undefined,
): Promise<void> {
  if (result.kind === 'buffered') {
    sendBuffered(response, result);
    return;
  }
  if (result.kind === 'streamed') {
    response.writeHead(200, headersOf(result));
    response.flushHeaders();
    await result.write(response);
    response.end();
    return;
  }
  if (upgrade === undefined)
    throw new HttpError(400, 'unable to upgrade: missing upgrade headers in request');
  response.detachSocket(upgrade.socket);
  await result.serve(upgrade.socket, upgrade.head);
}

function sendBuffered(response: ServerResponse, result: Omit<BufferedResponse, 'kind'>): void {
  const body = typeof result.body === 'string' ? Buffer.from(result.body) : result.body;
  // Closing the connection is cheaper than reading the rest of the request body.
  const connection = response.req.complete ? {} : {connection: 'close'};
  response.writeHead(result.status, {...headersOf(result), ...connection, 'content-length': body.length});
  response.end(body);
}

function headersOf({
  type = PLAIN_TEXT,
  headers,
}: Pick<BufferedResponse, 'type' | 'headers'>): Record<string, string> {
  return {'content-type': type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', ...headers};
}
