import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

/** A request that is let in. */
export interface KubeletRequest {
  readonly method: string;
  /** What stands in the path for the names in the route's pattern, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly raw: IncomingMessage;
  /** The client is ready to speak another protocol. */
  readonly canUpgrade: boolean;
  /** Aborts when the client has gone or the server ends. */
  readonly signal: AbortSignal;
}

/** A whole answer. */
export interface WholeAnswer {
  readonly kind: 'whole';
  readonly status: number;
  readonly body: string | Buffer;
  /** The Content-Type; plain text without. */
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An answer that comes bit by bit; what `write` rejects with cuts the answer off, so that nobody takes it for whole. */
export interface StreamedAnswer {
  readonly kind: 'streamed';
  readonly type?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly write: (response: ServerResponse) => Promise<void>;
}

/** The connection speaks another protocol from now on; `take` resolves when that is over. */
export interface UpgradedAnswer {
  readonly kind: 'upgraded';
  readonly take: (socket: Socket, head: Buffer) => Promise<void>;
}

export type Answer = WholeAnswer | StreamedAnswer | UpgradedAnswer;

/** What a request is answered with instead of what it asks for; the message is the whole answer. */
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

export function text(body: string, status = 200): WholeAnswer {
  return {kind: 'whole', status, body};
}

export function json(body: string | Buffer): WholeAnswer {
  return {kind: 'whole', status: 200, body, type: JSON_TYPE};
}

/** As Go's http.Error says it: with a line end. */
export function plainError(status: number, message: string): WholeAnswer {
  return {kind: 'whole', status, body: `${message}\n`};
}
