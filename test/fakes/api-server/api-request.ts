import type {IncomingMessage, ServerResponse} from 'node:http';
import type {StoredObject} from './object-storage.js';

/** A request that the server has received. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>> | undefined;
  /** Time of the request, in ms of the server's clock. */
  readonly at: number;
  /** True if the answer is that of a fault. */
  isFault?: boolean;
  /** Object after a successful change. */
  stored?: StoredObject | undefined;
  /** Status of the answer; undefined while there is none. */
  code?: number;
}

/**
 * An answer in place of the server's own; `hang` never answers and `reset` closes the connection. `delayMs` is a time before
 * the server's own answer.
 */
export type Fault =
  | 'hang'
  | 'reset'
  | {readonly delayMs: number}
  | {
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    };

/** Reads a request with its whole body. */
export async function readRequest(incoming: IncomingMessage, at: number): Promise<RecordedRequest> {
  const {pathname, searchParams} = new URL(incoming.url ?? '', 'http://server');
  const text = await readBody(incoming);
  return {
    method: incoming.method ?? '',
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: incoming.headers,
    at,
    body: text === '' ? undefined : (JSON.parse(text) as Readonly<Record<string, unknown>>),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Sends an object. */
export function answer(response: ServerResponse, code: number, object: object): void {
  response.writeHead(code, {'content-type': 'application/json'}).end(JSON.stringify(object));
}

/** Sends a Status document with fields such as `reason` and `message`. */
export function answerStatus(response: ServerResponse, code: number, fields: object): void {
  answer(response, code, {kind: 'Status', apiVersion: 'v1', status: 'Failure', code, ...fields});
}

/** Sends the Status of a fault, with Retry-After if it has one. */
export function answerFault(response: ServerResponse, fault: Extract<Fault, {readonly code: number}>): void {
  const {code, retryAfter, ...fields} = fault;
  if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
  answerStatus(response, code, fields);
}
