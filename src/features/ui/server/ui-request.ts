import type {IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import type {TextSink} from './text-sink.js';

/** Request that passed the checks of its route. */
export interface UiRequest {
  readonly query: URLSearchParams;
  /** Body of a POST. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly raw: IncomingMessage;
  /** Signal that aborts when the client disconnects, its session ends or the server stops. */
  readonly signal: AbortSignal;
}

/** A file of the page. */
export interface UiFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** Answer to a request. */
export type UiAnswer =
  | {readonly kind: 'json'; readonly value: unknown}
  | {readonly kind: 'done'}
  /** Text that goes on: `write` ends it by resolving. */
  | {readonly kind: 'stream'; readonly type: string; readonly write: (sink: TextSink) => Promise<void>}
  /** WebSocket: `serve` resolves when it is closed. */
  | {readonly kind: 'upgrade'; readonly serve: (socket: Socket, head: Buffer) => Promise<void>};

/** A route of the server. */
export interface UiRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** True if it needs no session. */
  readonly isOpen?: boolean;
  /** True if the route is a WebSocket. */
  readonly isUpgrade?: boolean;
  /** Rejects with RequestError, or with KcriError for failures of nodes. */
  readonly handle: (request: UiRequest) => Promise<UiAnswer>;
}
