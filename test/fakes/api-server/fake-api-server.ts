import {randomUUID} from 'node:crypto';
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import {createServer as createTlsServer} from 'node:https';
import type {AddressInfo} from 'node:net';
import {omit} from '../../../src/base/omit.js';
import {applyMergePatch} from './merge-patch.js';
import {ObjectStorage, type Change, type StoredObject} from './object-storage.js';
import {startDeletion, type PodLike} from './pod-deletion.js';

/** A request that the server has received. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Status of the answer; undefined while there is none. */
  code?: number;
}

/** An answer in place of the server's own; `hang` never answers and `reset` closes the connection. */
export type Fault =
  | 'hang'
  | 'reset'
  | {
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    };

/** Options of a fake API server. */
export interface FakeApiServerOptions {
  /** Token that requests must have; by default every request is allowed. */
  readonly token?: string;
  /** Serving certificate; plain HTTP by default. */
  readonly tls?: {readonly cert: string; readonly key: string};
}

const KINDS: Readonly<Record<string, string>> = {
  pods: 'Pod',
  nodes: 'Node',
  leases: 'Lease',
  configmaps: 'ConfigMap',
  secrets: 'Secret',
  services: 'Service',
  runtimeclasses: 'RuntimeClass',
};

/** Version that a new object has before it is stored. */
const INITIAL_GENERATION = 1;

/**
 * An API server in memory: resource versions, lists, watches with bookmarks, conflicts, strategic merge patches of
 * status subresources, graceful deletion of pods, and tokens. It behaves; faults can be injected per request.
 */
export class FakeApiServer implements AsyncDisposable {
  readonly storage = new ObjectStorage();
  readonly requests: RecordedRequest[] = [];
  readonly #options: FakeApiServerOptions;
  readonly #server: Server;
  readonly #watches = new Set<ServerResponse>();
  readonly #faults: {match: (request: RecordedRequest) => boolean; fault: Fault; left: number}[] = [];
  #port = 0;

  private constructor(options: FakeApiServerOptions) {
    this.#options = options;
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.#handle(request, response).catch((error: unknown) => {
        answerStatus(response, 500, {message: String(error)});
      });
    };
    this.#server =
      options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
    this.#server.keepAliveTimeout = 0;
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

  /** Closes all connections and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = new Promise<void>((resolve) =>
      this.#server.close(() => {
        resolve();
      }),
    );
    this.#server.closeAllConnections();
    await closed;
  }

  /** Answers the next `times` requests that match with a fault. */
  inject(match: (request: RecordedRequest) => boolean, fault: Fault, times = Number.POSITIVE_INFINITY): void {
    this.#faults.push({match, fault, left: times});
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  /** Ends all watches, normally or with an error event. */
  endWatches(code?: number): void {
    for (const response of this.#watches) {
      if (code !== undefined) {
        const object = {kind: 'Status', status: 'Failure', code, reason: 'Expired', message: 'too old'};
        response.write(`${JSON.stringify({type: 'ERROR', object})}\n`);
      }
      response.end();
    }
    this.#watches.clear();
  }

  /** Creates a pod that is bound to a node, as the scheduler leaves it. */
  createPod(pod: {readonly metadata: object; readonly spec: object}, namespace = 'default'): StoredObject {
    const {name} = pod.metadata as {readonly name: string};
    return this.storage.put(`/api/v1/namespaces/${namespace}/pods/${name}`, {
      apiVersion: 'v1',
      kind: 'Pod',
      status: {
        phase: 'Pending',
        qosClass: 'BestEffort',
        conditions: [{type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: NOW}],
      },
      ...pod,
      metadata: {
        namespace,
        uid: randomUUID(),
        generation: INITIAL_GENERATION,
        creationTimestamp: NOW,
        ...pod.metadata,
      },
    });
  }

  /** Creates an object at a path such as `/api/v1/namespaces/default/configmaps/settings`. */
  create(path: string, object: object): StoredObject {
    return this.storage.put(path, {...object, metadata: newMetadata(path, object)});
  }

  /** Deletes a pod as a user does, with its grace period by default. */
  deletePod(name: string, gracePeriodSeconds?: number, namespace = 'default'): void {
    this.#deletePod(`/api/v1/namespaces/${namespace}/pods/${name}`, gracePeriodSeconds);
  }

  pod(name: string, namespace = 'default'): StoredObject | undefined {
    return this.storage.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
  }

  /** Requests that change something, as `METHOD path`. */
  get writes(): readonly string[] {
    return this.requests.filter(({method}) => method !== 'GET').map(({method, path}) => `${method} ${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const {pathname, searchParams} = new URL(incoming.url ?? '', 'http://server');
    const text = await readBody(incoming);
    const request: RecordedRequest = {
      method: incoming.method ?? '',
      path: pathname,
      query: Object.fromEntries(searchParams),
      headers: incoming.headers,
      body: text === '' ? undefined : (JSON.parse(text) as Readonly<Record<string, unknown>>),
    };
    this.requests.push(request);
    response.on('finish', () => {
      request.code = response.statusCode;
    });
    const fault = this.#takeFault(request);
    if (fault === 'hang') return;
    if (fault === 'reset') incoming.socket.destroy();
    else if (fault !== undefined) answerFault(response, fault);
    else if (!this.#isAuthorized(request)) answerStatus(response, 401, {reason: 'Unauthorized'});
    else this.#serve(request, response);
  }

  #takeFault(request: RecordedRequest): Fault | undefined {
    const found = this.#faults.find(({match, left}) => left > 0 && match(request));
    if (found !== undefined) found.left -= 1;
    return found?.fault;
  }

  #isAuthorized({headers}: RecordedRequest): boolean {
    const {token} = this.#options;
    return token === undefined || headers['authorization'] === `Bearer ${token}`;
  }

  #serve(request: RecordedRequest, response: ServerResponse): void {
    const {method, path} = request;
    if (method === 'POST') this.#post(request, response);
    else if (method === 'GET' && isCollection(path)) this.#listOrWatch(request, response);
    else {
      const found = this.storage.get(path.replace(/\/status$/, ''));
      if (found === undefined)
        answerStatus(response, 404, {reason: 'NotFound', message: `${path} not found`});
      else if (method === 'GET') answer(response, 200, found);
      else this.#change(request, found, response);
    }
  }

  #change({method, path, body = {}}: RecordedRequest, found: StoredObject, response: ServerResponse): void {
    const {uid, resourceVersion} = (body['metadata'] ?? {}) as {uid?: string; resourceVersion?: string};
    if (uid !== undefined && uid !== found.metadata.uid)
      answerStatus(response, 409, {
        reason: 'Conflict',
        message: 'the UID in the precondition does not match',
      });
    else if (method === 'PUT' && resourceVersion !== found.metadata.resourceVersion)
      answerStatus(response, 409, {reason: 'Conflict', message: 'the object has been modified'});
    else if (method === 'PUT')
      answer(
        response,
        200,
        this.storage.put(path, {
          ...found,
          ...body,
          metadata: {...found.metadata, ...(body['metadata'] as object)},
        }),
      );
    else if (method === 'PATCH')
      answer(response, 200, this.#patch(path.replace(/\/status$/, ''), found, body));
    else this.#delete(path, found, {body, response});
  }

  #patch(path: string, found: StoredObject, body: Readonly<Record<string, unknown>>): StoredObject {
    const patched = applyMergePatch(found, body) as StoredObject;
    const isSame = JSON.stringify(patched) === JSON.stringify(found);
    return isSame ? found : this.storage.put(path, patched);
  }

  #delete(
    path: string,
    found: StoredObject,
    {body, response}: {readonly body: Readonly<Record<string, unknown>>; readonly response: ServerResponse},
  ): void {
    const {preconditions, gracePeriodSeconds} = body as {
      preconditions?: {uid?: string};
      gracePeriodSeconds?: number;
    };
    if (preconditions?.uid !== undefined && preconditions.uid !== found.metadata.uid)
      answerStatus(response, 409, {
        reason: 'Conflict',
        message: 'the UID in the precondition does not match',
      });
    else {
      if (found.kind === 'Pod') this.#deletePod(path, gracePeriodSeconds);
      else this.storage.delete(path);
      answer(response, 200, found);
    }
  }

  #deletePod(path: string, gracePeriodSeconds?: number): void {
    const pod = this.storage.get(path);
    if (pod === undefined) return;
    const terminating = startDeletion(pod, {gracePeriodSeconds, now: NOW});
    if (terminating === undefined) this.storage.delete(path);
    else this.storage.put(path, terminating);
  }

  #post({path, body = {}}: RecordedRequest, response: ServerResponse): void {
    if (path.endsWith('/token')) {
      const {expirationSeconds = 3600} = body['spec'] as {readonly expirationSeconds?: number};
      const expirationTimestamp = new Date(Date.now() + expirationSeconds * 1000).toISOString();
      answer(response, 201, {...body, status: {token: `token-${randomUUID()}`, expirationTimestamp}});
      return;
    }
    const {name} = body['metadata'] as {readonly name: string};
    const at = `${path}/${name}`;
    if (this.storage.get(at) === undefined) answer(response, 201, this.create(at, body));
    else answerStatus(response, 409, {reason: 'AlreadyExists', message: `"${name}" already exists`});
  }

  #listOrWatch({path, query}: RecordedRequest, response: ServerResponse): void {
    const selects = fieldSelector(query['fieldSelector']);
    if (query['watch'] === 'true') {
      this.#watch(path, Number(query['resourceVersion'] ?? '0'), {selects, response});
      return;
    }
    const kind = KINDS[path.split('/').at(-1) ?? ''] ?? '';
    // Items of a list have no kind.
    const items = this.storage
      .list(path)
      .flatMap((object) => (selects(object) ? [omit(object, 'kind', 'apiVersion')] : []));
    answer(response, 200, {
      kind: `${kind}List`,
      apiVersion: 'v1',
      metadata: {resourceVersion: String(this.storage.version)},
      items,
    });
  }

  #watch(
    path: string,
    after: number,
    {
      selects,
      response,
    }: {readonly selects: (object: StoredObject) => boolean; readonly response: ServerResponse},
  ): void {
    const send = ({type, object}: Change): void => {
      if (selects(object) && !response.writableEnded) response.write(`${JSON.stringify({type, object})}\n`);
    };
    response.writeHead(200, {'content-type': 'application/json'});
    response.flushHeaders();
    const stop = this.storage.watch(path, after, send);
    if (stop === undefined) {
      const object = {kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version'};
      response.end(`${JSON.stringify({type: 'ERROR', object})}\n`);
      return;
    }
    this.#watches.add(response);
    response.on('close', () => {
      stop();
      this.#watches.delete(response);
    });
  }

  /** Sends a bookmark to all watches. */
  sendBookmarks(): void {
    const object = {kind: 'Bookmark', metadata: {resourceVersion: String(this.storage.version)}};
    for (const response of this.#watches) response.write(`${JSON.stringify({type: 'BOOKMARK', object})}\n`);
  }
}

/** Time of everything that the server does: tests compare times of the kubelet only. */
const NOW = '2026-05-01T12:00:00Z';

function newMetadata(path: string, object: object): object {
  const namespace = /\/namespaces\/([^/]+)/.exec(path)?.[1];
  const {metadata = {}} = object as {readonly metadata?: object};
  return {
    ...(namespace !== undefined && {namespace}),
    name: path.split('/').at(-1),
    uid: randomUUID(),
    creationTimestamp: NOW,
    ...metadata,
  };
}

/** Reports whether a path names a collection: its last part is a resource. */
function isCollection(path: string): boolean {
  return (path.split('/').at(-1) ?? '') in KINDS;
}

/** Returns a predicate for `metadata.name=x` and `spec.nodeName=x`. */
function fieldSelector(text = ''): (object: StoredObject) => boolean {
  const [field, value] = text.split('=');
  if (field === 'metadata.name') return ({metadata}) => metadata.name === value;
  if (field === 'spec.nodeName') return (object) => (object as PodLike).spec?.nodeName === value;
  return () => true;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function answer(response: ServerResponse, code: number, object: object): void {
  response.writeHead(code, {'content-type': 'application/json'}).end(JSON.stringify(object));
}

function answerStatus(response: ServerResponse, code: number, fields: object): void {
  answer(response, code, {kind: 'Status', apiVersion: 'v1', status: 'Failure', code, ...fields});
}

function answerFault(response: ServerResponse, fault: Exclude<Fault, string>): void {
  const {code, retryAfter, ...fields} = fault;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  answerStatus(response, code, fields);
}
