import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import {createSecureServer as createHttp2Server} from 'node:http2';
import {createServer as createTlsServer} from 'node:https';
import type {AddressInfo, Server, Socket} from 'node:net';
import type {Server as TlsServer} from 'node:tls';
import type {Duplex} from 'node:stream';
import {systemClock} from '../../../src/base/clock.js';
import type {Handlers} from './api-call.js';
import {answerFault, answerStatus, readRequest, type Fault, type RecordedRequest} from './api-request.js';
import {findHandler} from './handlers.js';
import type {Upgrade} from './kubelet-streams.js';
import {deletePod, NOW, storeObject} from './object-handlers.js';
import {ObjectStorage, type StoredObject} from './object-storage.js';
import {POD_DEFAULTS} from './pod-handlers.js';
import {parseResourcePath} from './resource-path.js';
import {WatchStreams} from './watch-streams.js';

export type {RecordedRequest} from './api-request.js';

/** Options of a fake API server. */
export interface FakeApiServerOptions {
  /** Token that requests must have; by default every request is allowed. */
  readonly token?: string;
  /** Serving certificate; plain HTTP by default. */
  readonly tls?: {readonly cert: string; readonly key: string};
  /** Serves HTTP/2 over TLS too, with at most this many requests at a time on each connection. */
  readonly http2?: {readonly maxStreams: number};
  /** Handlers in place of the server's own. */
  readonly handlers?: Handlers;
  /** Takes over connections whose protocol a client wants to change; by default they are closed. */
  readonly upgrade?: (upgrade: Upgrade) => void;
}

/** Version that a new object has before it is stored. */
const INITIAL_GENERATION = 1;

/**
 * An API server in memory: resource versions, lists, watches with bookmarks and initial events, conflicts, strategic merge patches of
 * status subresources, graceful deletion of pods, and tokens. It behaves; faults can be injected per request.
 */
export class FakeApiServer implements AsyncDisposable {
  readonly storage = new ObjectStorage();
  readonly requests: RecordedRequest[] = [];
  /** Clock of the times of requests and of delays. */
  now = (): number => systemClock.now();
  sleep = async (ms: number): Promise<void> => systemClock.sleep(ms);
  readonly #options: FakeApiServerOptions;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Open watches. */
  readonly watches = new WatchStreams(this.storage);
  readonly #faults: {match: (request: RecordedRequest) => boolean; fault: Fault; left: number}[] = [];
  #port = 0;

  private constructor(options: FakeApiServerOptions) {
    this.#options = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.#handle(request, response).catch((error: unknown) => {
        answerStatus(response, 500, {message: String(error)});
      });
    };
    this.#server = createHttpServer(options, listener);
    this.#server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    this.#server.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (options.upgrade === undefined || !this.#isAuthorized(incoming)) socket.destroy();
      else options.upgrade({incoming, socket, head, storage: this.storage});
    });
  }

  static async start(options: FakeApiServerOptions = {}): Promise<FakeApiServer> {
    const server = new FakeApiServer(options);
    await server.listen();
    return server;
  }

  get url(): string {
    return `${this.#options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`;
  }

  /** Accepts connections, after `refuse` on the same port. */
  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** False after `refuse`. */
  get isListening(): boolean {
    return this.#server.listening;
  }

  /** Closes all connections and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = new Promise<void>((resolve) =>
      this.#server.close(() => {
        resolve();
      }),
    );
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Replaces the serving certificate and closes all connections. */
  async renewCertificate(tls: {readonly cert: string; readonly key: string}): Promise<void> {
    if ('setSecureContext' in this.#server) (this.#server as TlsServer).setSecureContext(tls);
    await this.refuse();
    await this.listen();
  }

  /** Returns a function that puts all objects back as they are now, with the version of now, and ends all watches. */
  backUp(): () => Promise<void> {
    const restore = this.storage.backUp();
    return async () => {
      await this.refuse();
      restore();
      await this.listen();
    };
  }

  /** Answers the next `times` requests that match with a fault. */
  inject(match: (request: RecordedRequest) => boolean, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#faults.push({match, fault, left: times});
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  /** Creates a pod that is bound to a node, as the scheduler leaves it. */
  createPod(
    pod: {readonly metadata: object; readonly spec: object; readonly status?: object},
    namespace = 'default',
  ): StoredObject {
    const {name} = pod.metadata as {readonly name: string};
    return this.create(podPath(name, namespace), {
      apiVersion: 'v1',
      kind: 'Pod',
      status: {
        phase: 'Pending',
        qosClass: 'BestEffort',
        conditions: [{type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: NOW}],
      },
      ...pod,
      spec: {...POD_DEFAULTS, ...pod.spec},
      metadata: {generation: INITIAL_GENERATION, ...pod.metadata},
    });
  }

  /** Creates an object at a path such as `/api/v1/namespaces/default/configmaps/settings`. */
  create(path: string, object: object): StoredObject {
    return storeObject(this.storage, path, object);
  }

  /** Deletes a pod as a user does, with its grace period by default. */
  deletePod(name: string, gracePeriodSeconds?: number, namespace = 'default'): void {
    deletePod(this.storage, podPath(name, namespace), gracePeriodSeconds);
  }

  pod(name: string, namespace = 'default'): StoredObject | undefined {
    return this.storage.get(podPath(name, namespace));
  }

  /** Requests that change something, as `METHOD path`. */
  get writes(): readonly string[] {
    return this.requests.filter(({method}) => method !== 'GET').map(({method, path}) => `${method} ${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, this.now());
    this.requests.push(request);
    response.on('finish', () => {
      request.code = response.statusCode;
    });
    const fault = this.#takeFault(request);
    request.isFault = fault !== undefined;
    if (fault === 'hang') return;
    if (typeof fault === 'object' && 'delayMs' in fault) await this.sleep(fault.delayMs);
    if (fault === 'reset') incoming.socket.destroy();
    else if (fault !== undefined && 'code' in fault) answerFault(response, fault);
    else if (!this.#isAuthorized(request)) answerStatus(response, 401, {reason: 'Unauthorized'});
    else await this.#serve(request, response);
  }

  #takeFault(request: RecordedRequest): Fault | undefined {
    const found = this.#faults.find(({match, left}) => left > 0 && match(request));
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }

  #isAuthorized({headers}: Pick<RecordedRequest, 'headers'>): boolean {
    const {token} = this.#options;
    return token === undefined || headers['authorization'] === `Bearer ${token}`;
  }

  async #serve(request: RecordedRequest, response: ServerResponse): Promise<void> {
    const target = parseResourcePath(request.path);
    const handle = findHandler({request, target}, this.#options.handlers ?? {});
    if (handle !== undefined) {
      await handle({request, target, storage: this.storage, response});
      if (request.method === 'PATCH')
        request.stored = this.storage.get(`${target.collection}/${target.name}`);
    } else if (request.method === 'GET') this.watches.listOrWatch(request, target, response);
    else answerStatus(response, 405, {reason: 'MethodNotAllowed'});
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

function createHttpServer({tls, http2}: FakeApiServerOptions, listener: Listener): Server {
  if (tls !== undefined && http2 !== undefined)
    return createHttp2Server(
      {...tls, allowHTTP1: true, settings: {maxConcurrentStreams: http2.maxStreams}},
      // The requests and responses of HTTP/2 have the methods of HTTP/1.1 that are used here.
      listener as unknown as Parameters<typeof createHttp2Server>[1],
    );
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.keepAliveTimeout = 0;
  return server;
}

function podPath(name: string, namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}
