import {systemClock} from '../../base/clock.js';
import {startTimer} from '../../base/timer.js';
import type {Http2Connection} from '../http2/connection.js';
import type {HeaderField} from '../http2/hpack.js';
import {ERROR} from '../http2/protocol.js';
import type {ConnectionFailure, Exchange, Http2Stream} from '../http2/stream.js';
import {
  abortReason,
  LONGEST_DEADLINE_MS,
  rpcFailure,
  type MessageSink,
  type WireCallOptions,
} from '../transport.js';
import {Answer} from './answer.js';
import {callFailure} from './connection-failure.js';
import {frameMessage} from './message.js';
import {requestHeaders} from './request-headers.js';
import {statusOfReset, type Status} from './status.js';

/** What is called where, and how. */
export interface UnaryRequest<Sink extends MessageSink> {
  readonly endpoint: string;
  readonly socketPath: string;
  readonly path: string;
  readonly message: Buffer;
  /** Makes what takes in the answer. */
  readonly sink: () => Sink;
  readonly options: WireCallOptions;
}

/** Who waits for the answer; one of the two is called, once. */
interface Waiter<Sink> {
  resolve(sink: Sink): void;
  reject(error: Error): void;
}

/** One call until it is answered, too late or aborted, over as many connections as it takes. */
export class UnaryCall<Sink extends MessageSink> implements Exchange {
  readonly body: Buffer;
  readonly #request: UnaryRequest<Sink>;
  readonly #waiter: Waiter<Sink>;
  /** A connection that takes requests. */
  readonly #connection: () => Http2Connection;
  readonly #startedAt = systemClock.now();
  readonly #cancelTimeout: (() => void) | undefined;
  #sink: Sink;
  #answer: Answer;
  #place: {readonly connection: Http2Connection; readonly stream: Http2Stream} | undefined;
  #sentAgain = false;

  constructor(request: UnaryRequest<Sink>, connection: () => Http2Connection, waiter: Waiter<Sink>) {
    this.body = frameMessage(request.message);
    this.#request = request;
    this.#connection = connection;
    this.#waiter = waiter;
    this.#sink = request.sink();
    this.#answer = new Answer(this.#sink);
    const {timeoutMs, signal} = request.options;
    signal?.addEventListener('abort', this.#onAbort, {once: true});
    if (timeoutMs <= LONGEST_DEADLINE_MS) this.#cancelTimeout = startTimer(timeoutMs, this.#onTimeout);
    this.#send();
  }

  #send(): void {
    const connection = this.#connection();
    this.#place = {connection, stream: connection.request(this)};
  }

  readonly #onAbort = (): void => {
    const {signal} = this.#request.options;
    if (signal === undefined) return;
    this.#leave();
    this.#settle();
    this.#waiter.reject(abortReason(signal));
  };

  readonly #onTimeout = (): void => {
    const seconds = (systemClock.now() - this.#startedAt) / 1000;
    this.#leave();
    this.#fail({code: 'DEADLINE_EXCEEDED', details: `Deadline exceeded after ${seconds.toFixed(3)}s`});
  };

  /** Has the connection forget the call. */
  #leave(): void {
    this.#place?.connection.cancel(this.#place.stream);
  }

  #settle(): void {
    this.#cancelTimeout?.();
    this.#request.options.signal?.removeEventListener('abort', this.#onAbort);
  }

  #fail({code, details}: Status): void {
    const {endpoint, path} = this.#request;
    this.#settle();
    this.#waiter.reject(rpcFailure(endpoint, path, {grpcCode: code, details}));
  }

  #end(status: Status): void {
    if (status.code !== 'OK') {
      this.#fail(status);
      return;
    }
    this.#settle();
    this.#waiter.resolve(this.#sink);
  }

  /** Ends the call in the middle of its answer. */
  #endEarly(status: Status | undefined): void {
    if (status === undefined) return;
    this.#leave();
    this.#end(status);
  }

  // What the connection asks and tells

  headerBlock(): Buffer {
    const {path, options} = this.#request;
    const {timeoutMs, metadata} = options;
    const limited = timeoutMs <= LONGEST_DEADLINE_MS;
    const left = limited ? timeoutMs - (systemClock.now() - this.#startedAt) : Infinity;
    return requestHeaders(path, left, metadata);
  }

  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): void {
    this.#endEarly(this.#answer.onHeaders(fields, last));
  }

  onData(piece: Buffer): void {
    this.#endEarly(this.#answer.onData(piece));
  }

  onEnd(): void {
    this.#end(this.#answer.onEnd());
  }

  onReset(code: number): void {
    this.#fail(statusOfReset(code));
  }

  onNotSent(): void {
    this.#send();
  }

  /** Once more, as gRPC says (A6, transparent retries). */
  onNotProcessed(): void {
    if (this.#sentAgain) {
      this.#fail(statusOfReset(ERROR.refusedStream));
      return;
    }
    this.#sentAgain = true;
    this.#sink = this.#request.sink();
    this.#answer = new Answer(this.#sink);
    this.#send();
  }

  onFailure(failure: ConnectionFailure, sent: boolean): void {
    const {endpoint, path, socketPath} = this.#request;
    this.#settle();
    this.#waiter.reject(rpcFailure(endpoint, path, callFailure(failure, socketPath, sent)));
  }
}
