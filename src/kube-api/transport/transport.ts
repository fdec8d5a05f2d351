import {SystemError} from '../../base/errors.js';

/** A request as it is sent. */
export interface WireRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** Header fields with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Time limit until the head of the response, in ms. */
  readonly timeoutMs: number;
}

/** Head of a response, and its body, which the caller must read or destroy. */
export interface WireResponse {
  readonly status: number;
  /** Returns the value of a header field by its lower-case name. */
  header(name: string): string | undefined;
  /** Rejects with the error of the connection, and with that of `destroy`. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Ends the response, if it is not complete. */
  destroy(error?: Error): void;
}

/** Sends requests over connections that are kept open. */
export interface Transport {
  /**
   * Resolves with the head of the response. Rejects with the error of the connection, with StaleConnectionError, and with
   * the signal's reason, which also ends the body.
   */
  send(request: WireRequest, signal: AbortSignal): Promise<WireResponse>;
  /** Closes all connections; requests in progress fail. */
  close(): void;
}

/** A connection that was closed before it could transport the next request. */
export class StaleConnectionError extends SystemError {}
