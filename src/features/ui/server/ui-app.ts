import {setMaxListeners} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {anySignal} from '../../../base/async/any-signal.js';
import type {Clock} from '../../../base/clock.js';
import {KcriError} from '../../../base/errors.js';
import type {Exchange, Upgrade} from '../../../http-server/request-server.js';
import {BodyReader} from './read-json-body.js';
import {RequestError} from './request-error.js';
import {checkHost, checkOrigin, type ServedAddress} from './request-guard.js';
import {SECURITY_HEADERS} from './security-headers.js';
import {sessionEnded, type Sessions, type SessionUse} from './sessions.js';
import {StalledClientError, TextSink} from './text-sink.js';
import type {UiAnswer, UiFile, UiRoute} from './ui-request.js';

/** Options of a UiApp. */
export interface UiAppOptions {
  readonly routes: readonly UiRoute[];
  /** Returns a file of the page by its name; undefined without one. Rejects with SystemError if the page is not built. */
  readonly findFile: (name: string) => Promise<UiFile | undefined>;
  readonly sessions: Sessions;
  /** Returns the address that the server is bound to. */
  readonly address: () => ServedAddress;
  readonly clock: Clock;
  /** Signal that aborts when the server stops. */
  readonly signal: AbortSignal;
  /** Removes secrets and control characters from a message. */
  readonly safe: (text: string) => string;
  /** Reports a programming error. */
  readonly onBug: (error: unknown) => void;
}

/** Beginning of the paths of routes. */
const API = '/api/';
/** Number of requests that are answered at once: streams, terminals and reads of nodes. */
const MAX_RUNNING = 64;
/** Subprotocol of the WebSockets, and the one that carries the key of the session. */
export const TERMINAL_PROTOCOL = 'kcri.terminal';
const SESSION_PROTOCOL = 'kcri.session.';

/** A request that is answered. */
interface Answered extends Pick<Exchange, 'request' | 'response' | 'signal'> {
  readonly upgrade: Upgrade | undefined;
}

/** Answers the requests of the page: checks where they come from and their session, and finds their route. */
export class UiApp {
  readonly #options: UiAppOptions;
  readonly #bodies: BodyReader;
  #running = 0;

  constructor(options: UiAppOptions) {
    this.#options = options;
    this.#bodies = new BodyReader(options.clock);
    // All requests listen to it.
    setMaxListeners(0, options.signal);
  }

  /** Answers a request. Never rejects. */
  async respond({request, response, signal, upgrade}: Exchange): Promise<void> {
    using either = anySignal(signal, this.#options.signal);
    try {
      await this.#answer({request, response, signal: either.signal, upgrade});
    } catch (error) {
      if (!(error instanceof StalledClientError) && !either.signal.aborted) this.#sendError(error, response);
    } finally {
      if (!response.writableEnded && response.socket !== null) response.destroy();
    }
  }

  /** Answers a request. Rejects with RequestError, KcriError and StalledClientError. */
  async #answer(exchange: Answered): Promise<void> {
    const {request, response, upgrade} = exchange;
    const address = this.#options.address();
    checkHost(request.headers, address);
    const {path, query} = targetOf(request);
    if (!path.startsWith(API)) {
      sendFile(request, response, await this.#findFile(path, request.method));
      return;
    }
    const route = this.#findRoute(path, request.method);
    const isChange = route.method === 'POST' || route.isUpgrade === true;
    checkOrigin(request.headers, {isChange, isSecure: address.certificate !== undefined});
    if ((route.isUpgrade === true) !== (upgrade !== undefined))
      throw new RequestError(426, 'the path takes WebSockets only');
    await this.#answerRoute(route, query, exchange);
  }

  /** Answers a request of a route, within the limit of their number. */
  async #answerRoute(route: UiRoute, query: URLSearchParams, exchange: Answered): Promise<void> {
    const {request: raw} = exchange;
    using session = route.isOpen === true ? undefined : this.#useSession(raw);
    const body = route.method === 'POST' ? await this.#bodies.read(raw) : {};
    if (this.#running >= MAX_RUNNING) throw new RequestError(503, 'too many requests are being answered');
    this.#running += 1;
    using either = anySignal(exchange.signal, ...(session === undefined ? [] : [session.signal]));
    const {signal} = either;
    try {
      await this.#send(await route.handle({query, body, raw, signal}), {...exchange, signal});
    } finally {
      this.#running -= 1;
    }
  }

  #useSession(raw: IncomingMessage): SessionUse {
    const session = this.#options.sessions.use(keyOf(raw));
    if (session === undefined) throw sessionEnded();
    return session;
  }

  /** Returns a file of the page, which needs no session. */
  async #findFile(path: string, method: string | undefined): Promise<UiFile> {
    const file = await this.#options.findFile(path === '/' ? 'index.html' : path.slice(1));
    if (file === undefined) throw new RequestError(404, 'there is nothing under this path');
    if (method !== 'GET') throw new RequestError(405, 'the path does not take this method');
    return file;
  }

  #findRoute(path: string, method: string | undefined): UiRoute {
    const routes = this.#options.routes.filter((route) => route.path === path);
    if (routes.length === 0) throw new RequestError(404, 'there is nothing under this path');
    const route = routes.find((each) => each.method === method);
    if (route === undefined) throw new RequestError(405, 'the path does not take this method');
    return route;
  }

  async #send(answer: UiAnswer, {response, signal, upgrade}: Answered): Promise<void> {
    switch (answer.kind) {
      case 'json':
        sendText(response, 200, JSON.stringify(answer.value));
        return;
      case 'done':
        response.writeHead(204, SECURITY_HEADERS).end();
        return;
      case 'stream':
        response.writeHead(200, {...SECURITY_HEADERS, 'content-type': answer.type});
        response.flushHeaders();
        await answer.write(new TextSink(response, {clock: this.#options.clock, signal}));
        response.end();
        return;
      case 'upgrade':
        if (upgrade !== undefined) await serveUpgrade(answer, response, upgrade);
    }
  }

  #sendError(error: unknown, response: ServerResponse): void {
    const failure = this.#errorOf(error);
    if (response.headersSent || response.socket === null) return;
    sendText(response, failure.status, JSON.stringify(failure.body));
  }

  #errorOf(error: unknown): RequestError {
    const {safe, onBug} = this.#options;
    if (error instanceof RequestError) return error;
    if (error instanceof KcriError) {
      const {plainMessage, hint} = error;
      return new RequestError(502, safe(plainMessage), hint === undefined ? undefined : safe(hint));
    }
    onBug(error);
    return new RequestError(500, 'internal error of kcri; the terminal of kcri ui shows it');
  }
}

function targetOf({url = ''}: IncomingMessage): {readonly path: string; readonly query: URLSearchParams} {
  const queryStart = url.indexOf('?');
  if (queryStart === -1) return {path: url, query: new URLSearchParams()};
  return {path: url.slice(0, queryStart), query: new URLSearchParams(url.slice(queryStart + 1))};
}

/** Returns the session key of a request; empty without one. Browsers cannot send other headers with a WebSocket. */
function keyOf({headers}: IncomingMessage): string {
  const [, bearer] = /^Bearer (\S+)$/.exec(headers.authorization ?? '') ?? [];
  if (bearer !== undefined) return bearer;
  const offered = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? [];
  return offered.find((name) => name.startsWith(SESSION_PROTOCOL))?.slice(SESSION_PROTOCOL.length) ?? '';
}

function sendText(response: ServerResponse, status: number, text: string): void {
  const body = Buffer.from(text);
  // Closing the connection is cheaper than reading the rest of the request body.
  const connection = response.req.complete ? {} : {connection: 'close'};
  const type = {'content-type': 'application/json', 'content-length': body.length};
  response.writeHead(status, {...SECURITY_HEADERS, ...connection, ...type}).end(body);
}

function sendFile(
  {headers}: IncomingMessage,
  response: ServerResponse,
  {type, plain, gzipped}: UiFile,
): void {
  const takesGzip = /\bgzip\b/.test(headers['accept-encoding']?.toString() ?? '');
  const body = takesGzip ? gzipped : plain;
  response
    .writeHead(200, {
      ...SECURITY_HEADERS,
      ...(takesGzip && {'content-encoding': 'gzip'}),
      'content-type': type,
      'content-length': body.length,
      vary: 'accept-encoding',
    })
    .end(body);
}

async function serveUpgrade(
  {serve}: Extract<UiAnswer, {kind: 'upgrade'}>,
  response: ServerResponse,
  {socket, head}: Upgrade,
): Promise<void> {
  response.detachSocket(socket);
  await serve(socket, head);
}
