import type {HeaderField} from './hpack.js';

/** Reason why a connection ended or was not established. */
export interface ConnectionFailure {
  /**
   * `dial`: connect(2) failed; `silent`: no HTTP/2 server answered in time; `preface`: the peer is not an HTTP/2
   * server; `lost`: the connection was lost; `protocol`: the peer violated the protocol; `closed`: this side closed
   * it.
   */
  readonly kind: 'dial' | 'silent' | 'preface' | 'lost' | 'protocol' | 'closed';
  readonly cause?: Error | undefined;
}

/** A request with the callbacks for its response. Exactly one of the final callbacks is called, as the last one. */
export interface Exchange {
  /** Returns the encoded headers of the request; called when it is sent. */
  headerBlock(): Buffer;
  readonly body: Buffer;
  /** Receives headers or trailers, undefined if they are too large. Final if `last`. */
  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): void;
  /** Receives a chunk of the body, which is only valid during the call. */
  onData(chunk: Buffer): void;
  /** Final: the response ended after its last data. */
  onEnd(): void;
  /** Final: the peer reset the stream with an HTTP/2 error code. */
  onReset(code: number): void;
  /**
   * Final: the request was not sent before the connection stopped accepting requests; it can be sent on another one.
   */
  onNotSent(): void;
  /** Final: the peer did not process the request; it can be sent again. */
  onNotProcessed(): void;
  /** Final: the connection failed. `sent` is true if the peer may have seen the request. */
  onFailure(failure: ConnectionFailure, sent: boolean): void;
}

/** State of an exchange on a connection. */
export class Http2Stream {
  readonly exchange: Exchange;
  /** Stream ID; 0 until the request is sent. */
  id = 0;
  /** Number of body bytes that may be sent; negative after the peer reduced its initial window. */
  sendWindow = 0;
  /** Unsent part of the body. */
  unsent: Buffer;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
    this.unsent = exchange.body;
  }
}
