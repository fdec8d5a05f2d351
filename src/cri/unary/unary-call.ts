import {systemClock} from '../../base/clock.js';
import {onAbort} from '../../base/async/abort-callbacks.js';
import {startTimer} from '../../base/async/timer.js';
import type {Http2Connection} from '../http2/http2-connection.js';
import type {HeaderField} from '../http2/hpack.js';
import {ERROR_CODE} from '../http2/protocol-constants.js';
import type {ConnectionFailure, Exchange, Http2Stream} from '../http2/http2-stream.js';
import {
  abortReason,
  MAX_DEADLINE_MS,
  rpcFailure,
  type MessageSink,
  type WireCallOptions,
} from '../transport.js';
import {UnaryResponse} from './response.js';
import {toCallFailure} from './connection-failure.js';
import {frameMessage} from './message-framing.js';
import {requestHeaders} from './request-headers.js';
import {statusFromReset, type GrpcStatus} from './grpc-status.js';

/** Time in which no call can be sent; a shorter deadline has passed. */
const SHORTEST_CALL_MS = 0.1;

/** Parameters of a unary call. */
export interface UnaryRequest<Sink extends MessageSink> {
  readonly endpoint: string;
  readonly socketPath: string;
  readonly path: string;
  readonly message: Buffer;
  /** Creates the receiver of the response. */
  readonly sink: () => Sink;
  readonly options: WireCallOptions;
}

/** Settles the caller's promise; exactly one of the two is called, once. */
interface Settlement<Sink> {
  resolve(sink: Sink): void;
  reject(error: Error): void;
}

/** A unary call until its response, deadline or cancellation, over as many connections as needed. */
export class UnaryCall<Sink extends MessageSink> implements Exchange {
  readonly body: Buffer;
  readonly #request: UnaryRequest<Sink>;
  readonly #settlement: Settlement<Sink>;
  /** Returns a connection that accepts requests. */
  readonly #connection: () => Http2Connection;
  readonly #startedAt = systemClock.monotonic();
  readonly #cancelTimeout: (() => void) | undefined;
  readonly #forgetSignal: (() => void) | undefined;
  #sink: Sink;
  #response: UnaryResponse;
  #location: {readonly connection: Http2Connection; readonly stream: Http2Stream} | undefined;
  #retried = false;

  constructor(request: UnaryRequest<Sink>, connection: () => Http2Connection, settlement: Settlement<Sink>) {
    this.body = frameMessage(request.message);
    this.#request = request;
    this.#connection = connection;
    this.#settlement = settlement;
    this.#sink = request.sink();
    this.#response = new UnaryResponse(this.#sink);
    const {timeoutMs, signal} = request.options;
    // A deadline that has passed fails the call before it is sent.
    if (timeoutMs < SHORTEST_CALL_MS) {
      this.#onTimeout();
      return;
    }
    if (signal !== undefined) this.#forgetSignal = onAbort(signal, this.#onAbort);
    if (timeoutMs <= MAX_DEADLINE_MS) this.#cancelTimeout = startTimer(timeoutMs, this.#onTimeout);
    this.#send();
  }

  #send(): void {
    const connection = this.#connection();
    this.#location = {connection, stream: connection.request(this)};
  }

  readonly #onAbort = (): void => {
    const {signal} = this.#request.options;
    if (signal === undefined) return;
    this.#detach();
    this.#cleanUp();
    this.#settlement.reject(abortReason(signal));
  };

  readonly #onTimeout = (): void => {
    const seconds = (systemClock.monotonic() - this.#startedAt) / 1000;
    this.#detach();
    this.#fail({code: 'DEADLINE_EXCEEDED', details: `Deadline exceeded after ${seconds.toFixed(3)}s`});
  };

  /** Removes the call from its connection. */
  #detach(): void {
    this.#location?.connection.cancel(this.#location.stream);
  }

  #cleanUp(): void {
    this.#cancelTimeout?.();
    this.#forgetSignal?.();
  }

  #fail({code, details}: GrpcStatus): void {
    const {endpoint, path} = this.#request;
    this.#cleanUp();
    this.#settlement.reject(rpcFailure(endpoint, path, {grpcCode: code, details}));
  }

  #end(status: GrpcStatus): void {
    if (status.code !== 'OK') {
      this.#fail(status);
      return;
    }
    this.#cleanUp();
    this.#settlement.resolve(this.#sink);
  }

  /** Ends the call before its response is complete. */
  #endEarly(status: GrpcStatus | undefined): void {
    if (status === undefined) return;
    this.#detach();
    this.#end(status);
  }

  // Callbacks of the connection

  headerBlock(): Buffer {
    const {path, options} = this.#request;
    const {timeoutMs, metadata} = options;
    const limited = timeoutMs <= MAX_DEADLINE_MS;
    const remaining = limited ? timeoutMs - (systemClock.monotonic() - this.#startedAt) : Infinity;
    return requestHeaders(path, remaining, metadata);
  }

  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): void {
    this.#endEarly(this.#response.onHeaders(fields, last));
  }

  onData(chunk: Buffer): void {
    this.#endEarly(this.#response.onData(chunk));
  }

  onEnd(): void {
    this.#end(this.#response.onEnd());
  }

  onReset(code: number): void {
    this.#fail(statusFromReset(code));
  }

  onNotSent(): void {
    this.#send();
  }

  /** Retries once, as gRPC specifies (A6, transparent retries). */
  onNotProcessed(): void {
    if (this.#retried) {
      this.#fail(statusFromReset(ERROR_CODE.refusedStream));
      return;
    }
    this.#retried = true;
    this.#sink = this.#request.sink();
    this.#response = new UnaryResponse(this.#sink);
    this.#send();
  }

  onFailure(failure: ConnectionFailure, sent: boolean): void {
    const {endpoint, path, socketPath} = this.#request;
    this.#cleanUp();
    this.#settlement.reject(rpcFailure(endpoint, path, toCallFailure(failure, socketPath, sent)));
  }
}
