import type {HeaderField} from './hpack.js';

/** How a connection ended, or why there was none. */
export interface ConnectionFailure {
  /**
   * `dial`: nobody listens; `silent`: no HTTP/2 server answered in time; `preface`: what answered is none; `lost`:
   * it went away; `protocol`: it broke the protocol; `closed`: this side closed it.
   */
  readonly kind: 'dial' | 'silent' | 'preface' | 'lost' | 'protocol' | 'closed';
  readonly cause?: Error | undefined;
}

/** One request, and who is told of its answer. Exactly one of the calls that end it comes, and nothing after it. */
export interface Exchange {
  /** The request's headers, encoded; asked for when it is sent. */
  headerBlock(): Buffer;
  readonly body: Buffer;
  /** The answer's headers or trailers, undefined when they are too long; ends it when they are the last. */
  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): void;
  /** The piece is only lent. */
  onData(piece: Buffer): void;
  /** Ends it after its last data. */
  onEnd(): void;
  /** The peer ended it, with one of HTTP/2's codes. */
  onReset(code: number): void;
  /** The connection takes no more requests and has not sent this one: it can go over another. */
  onNotSent(): void;
  /** The peer has the request, and did nothing about it: it can be sent again. */
  onNotProcessed(): void;
  /** `sent`: the peer may have seen the request. */
  onFailure(failure: ConnectionFailure, sent: boolean): void;
}

/** An exchange's place on a connection. */
export class Http2Stream {
  readonly exchange: Exchange;
  /** 0 until it is its turn. */
  id = 0;
  /** How much more of the body may be sent; below 0 when the peer changed its mind. */
  sendWindow = 0;
  /** What is left of the body. */
  unsent: Buffer;

  constructor(exchange: Exchange) {
    this.exchange = exchange;
    this.unsent = exchange.body;
  }
}
