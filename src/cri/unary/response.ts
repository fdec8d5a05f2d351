import {grpcCodeOf} from '../errors.js';
import type {HeaderField} from '../http2/hpack.js';
import type {MessageSink} from '../transport.js';
import {MessageReader} from './message-framing.js';
import {decodeStatusMessage, statusFromHttp, type GrpcStatus} from './grpc-status.js';

const internal = (details: string): GrpcStatus => ({code: 'INTERNAL', details});

/**
 * Computes the status of a unary call from its HTTP/2 response and passes the content of its message on. Each method
 * may return the final status, which is OK only if there is exactly one message.
 */
export class UnaryResponse {
  readonly #reader: MessageReader;
  #httpStatus: number | undefined;

  constructor(sink: MessageSink) {
    this.#reader = new MessageReader(sink);
  }

  /** Reads headers or trailers; `fields` is undefined if they are too large. */
  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): GrpcStatus | undefined {
    if (fields === undefined)
      return {code: 'RESOURCE_EXHAUSTED', details: 'Received headers larger than max'};
    if (this.#httpStatus !== undefined)
      return last ? this.#trailers(fields) : internal('protocol error: headers inside a response');
    const httpStatus = Number(valueOf(fields, ':status'));
    if (!(httpStatus >= 100 && httpStatus < 600))
      return internal('protocol error: a response without an HTTP status');
    // Informational responses.
    if (httpStatus < 200 && !last) return undefined;
    this.#httpStatus = httpStatus;
    return last ? this.#trailers(fields) : notGrpc(httpStatus, fields);
  }

  onData(chunk: Buffer): GrpcStatus | undefined {
    if (this.#httpStatus === undefined) return internal('protocol error: a response without headers');
    const failure = this.#reader.push(chunk);
    const {completeCount, isPartial} = this.#reader;
    if (completeCount + Number(isPartial) > 1)
      return {code: 'UNIMPLEMENTED', details: 'Too many responses received'};
    return failure;
  }

  /** Returns the status of a response that ended without trailers. */
  onEnd(): GrpcStatus {
    return this.#httpStatus === 200 || this.#httpStatus === undefined
      ? internal('Call ended without gRPC status')
      : statusFromHttp(this.#httpStatus);
  }

  #trailers(fields: readonly HeaderField[]): GrpcStatus {
    const status = valueOf(fields, 'grpc-status');
    if (status === undefined) return statusFromHttp(this.#httpStatus ?? 0);
    const code = grpcCodeOf(/^\d+$/.test(status) ? Number(status) : NaN);
    if (code !== 'OK') return {code, details: decodeStatusMessage(valueOf(fields, 'grpc-message') ?? '')};
    if (this.#reader.isPartial) return internal('the response is truncated');
    if (this.#reader.completeCount === 0) return {code: 'UNIMPLEMENTED', details: 'No message received'};
    return {code, details: ''};
  }
}

/** Returns a status for the response of a web server, whose body need not be read. */
function notGrpc(httpStatus: number, headers: readonly HeaderField[]): GrpcStatus | undefined {
  const contentType = valueOf(headers, 'content-type') ?? 'application/grpc';
  return contentType.startsWith('application/grpc') ? undefined : statusFromHttp(httpStatus);
}

function valueOf(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field[0] === name)?.[1];
}
