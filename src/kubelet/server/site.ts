import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {performance} from 'node:perf_hooks';
import {authenticate} from './access/authenticate.js';
import {forbiddenText, requestAttributes} from './access/attributes.js';
import type {Authorize} from './access/policy.js';
import {HttpError, PLAIN_TEXT, plainError, type Answer, type KubeletRequest} from './answer.js';
import type {Upgrade} from './listener.js';
import type {ServerOptions} from './options.js';
import {findRoute, requestPath, rootOf, type RequestPath, type Route} from './routes.js';

/** What a port serves, and to whom. */
export interface SiteOptions extends Pick<ServerOptions, 'logger' | 'metrics' | 'clock'> {
  readonly routes: readonly Route[];
  /** First parts of paths that are there but not served, and what is said instead. */
  readonly disabled: ReadonlyMap<string, string>;
  /** Undefined lets everybody do everything that is served. */
  readonly access: {readonly anonymous: boolean; readonly authorize: Authorize} | undefined;
  /** Ends all requests. */
  readonly signal: AbortSignal;
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

/** Answers the requests that come to one port: who is there, what is asked for, is it allowed, then what it is. */
export class Site {
  readonly #options: SiteOptions;
  readonly #roots: ReadonlySet<string>;

  constructor(options: SiteOptions) {
    this.#options = options;
    this.#roots = new Set([
      ...options.disabled.keys(),
      ...options.routes.map(({pattern}) => pattern.split('/')[1] ?? ''),
    ]);
  }

  /** Never rejects. */
  async respond(request: IncomingMessage, response: ServerResponse, upgrade?: Upgrade): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => {
      gone.abort();
    });
    upgrade?.socket.once('close', () => {
      gone.abort();
    });
    const signal = AbortSignal.any([this.#options.signal, gone.signal]);
    const startedAt = performance.now();
    const target = parsedTarget(request);
    const done = this.#counted(request, target?.path);
    try {
      const canUpgrade = upgrade !== undefined;
      const answer = await this.#answer(target, {raw: request, signal, canUpgrade});
      await give(answer, response, upgrade);
    } catch (error) {
      if (!gone.signal.aborted) this.#fail(error, request, response);
    } finally {
      done((performance.now() - startedAt) / 1000);
      if (!response.writableEnded && upgrade === undefined) response.destroy();
    }
  }

  async #answer(
    target: Target | undefined,
    given: Pick<KubeletRequest, 'raw' | 'signal' | 'canUpgrade'>,
  ): Promise<Answer> {
    if (target === undefined) throw new HttpError(400, '400 Bad Request');
    const {path, query} = target;
    const {method = ''} = given.raw;
    const root = path.parts[0] ?? '';
    if (!this.#roots.has(root)) return plainError(404, '404 page not found');
    this.#admit(given.raw, path);
    const disabled = this.#options.disabled.get(root);
    if (disabled !== undefined) return plainError(405, disabled);
    const {route, params} = findRoute(this.#options.routes, path, method);
    return await route.handle({...given, method, params, query});
  }

  /** Lets the request pass or throws HttpError. */
  #admit(request: IncomingMessage, path: RequestPath): void {
    const {access, logger, clock} = this.#options;
    if (access === undefined) return;
    const user = authenticate(request.socket, access.anonymous, clock.now());
    if (user === undefined) throw new HttpError(401, 'Unauthorized');
    const attributes = requestAttributes(request.method ?? '', path.parts);
    if (access.authorize(user, attributes)) return;
    const {verb, subresources} = attributes;
    logger.info('Forbidden', {user: user.name, verb, resource: 'nodes', 'subresource(s)': subresources}, 2);
    throw new HttpError(403, forbiddenText(user, attributes));
  }

  #counted({method = ''}: IncomingMessage, path: RequestPath | undefined): (seconds: number) => void {
    const root = path === undefined || !this.#roots.has(path.parts[0] ?? '') ? 'other' : knownRoot(path);
    return this.#options.metrics.http.begun({
      method: METHODS.has(method) ? method : 'other',
      path: root,
      serverType: this.#options.access === undefined ? 'readonly' : 'readwrite',
      longRunning: LONG_RUNNING.has(root),
    });
  }

  #fail(error: unknown, {socket, method, url = ''}: IncomingMessage, response: ServerResponse): void {
    const known = error instanceof HttpError ? error : undefined;
    if (known === undefined) {
      const [path = ''] = url.split('?');
      this.#options.logger.error(error, 'Error while serving a request', {
        method,
        path,
        from: addressOf(socket),
      });
    }
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const status = known?.status ?? 500;
    const body = known?.message ?? 'internal server error';
    write(response, {status, body, headers: known?.headers});
  }
}

/** Metrics have few paths, and a client can't make up more. */
const METRIC_ROOTS: ReadonlySet<string> = new Set([
  'metrics',
  'metrics/cadvisor',
  'metrics/resource',
  'metrics/probes',
  'metrics/slis',
]);

function knownRoot(path: RequestPath): string {
  const root = rootOf(path);
  return !root.startsWith('metrics') || METRIC_ROOTS.has(root) ? root : 'other';
}

interface Target {
  readonly path: RequestPath;
  readonly query: URLSearchParams;
}

/** Undefined for what is not the path of something here. */
function parsedTarget({url = ''}: IncomingMessage): Target | undefined {
  const at = url.indexOf('?');
  try {
    return {
      path: requestPath(at === -1 ? url : url.slice(0, at)),
      query: new URLSearchParams(at === -1 ? '' : url.slice(at + 1)),
    };
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}

function addressOf({remoteAddress = '', remotePort = 0}: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

async function give(answer: Answer, response: ServerResponse, upgrade: Upgrade | undefined): Promise<void> {
  if (answer.kind === 'whole') {
    write(response, answer);
    return;
  }
  if (answer.kind === 'streamed') {
    response.writeHead(200, headersOf(answer));
    response.flushHeaders();
    await answer.write(response);
    response.end();
    return;
  }
  if (upgrade === undefined)
    throw new HttpError(400, 'unable to upgrade: missing upgrade headers in request');
  response.detachSocket(upgrade.socket);
  await answer.take(upgrade.socket, upgrade.head);
}

interface WholeText {
  readonly status: number;
  readonly body: string | Buffer;
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function write(response: ServerResponse, answer: WholeText): void {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  response.writeHead(answer.status, {...headersOf(answer), 'content-length': body.length});
  response.end(body);
}

function headersOf({
  type = PLAIN_TEXT,
  headers,
}: Pick<WholeText, 'type' | 'headers'>): Record<string, string> {
  return {'content-type': type, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', ...headers};
}
