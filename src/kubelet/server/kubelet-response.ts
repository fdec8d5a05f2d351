import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

/** Authorized request. */
export interface KubeletRequest {
  readonly method: string;
  /** Decoded path parameters of the route's pattern. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly raw: IncomingMessage;
  /** True if the client requests a protocol upgrade. */
  readonly canUpgrade: boolean;
  /** Signal that aborts when the client disconnects or the server stops. */
  readonly signal: AbortSignal;
}

/** Complete response. */
export interface BufferedResponse {
  readonly kind: 'buffered';
  readonly status: number;
  readonly body: string | Buffer;
  /** Content-Type; default plain text. */
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Response that `write` streams. If `write` rejects, the connection is closed, so that the response is incomplete. */
export interface StreamedResponse {
  readonly kind: 'streamed';
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly write: (response: ServerResponse) => Promise<void>;
}

/** Protocol upgrade; `serve` resolves when the connection is closed. */
export interface UpgradedResponse {
  readonly kind: 'upgraded';
  readonly serve: (socket: Socket, head: Buffer) => Promise<void>;
}

export type KubeletResponse = BufferedResponse | StreamedResponse | UpgradedResponse;

/** Error response; the message is its complete body. */
export class HttpError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}

export const PLAIN_TEXT = 'text/plain; charset=utf-8';
export const JSON_TYPE = 'application/json';

export function textResponse(body: string, status = 200): BufferedResponse {
  return {kind: 'buffered', status, body};
}

export function jsonResponse(body: string | Buffer): BufferedResponse {
  return {kind: 'buffered', status: 200, body, type: JSON_TYPE};
}

/** Returns an error response as Go's http.Error writes it: the message and a newline. */
export function errorResponse(status: number, message: string): BufferedResponse {
  return {kind: 'buffered', status, body: `${message}\n`};
}
