import {grpcCodeOf} from '../errors.js';
import type {HeaderField} from '../http2/hpack.js';
import type {MessageSink} from '../transport.js';
import {MessageReader} from './message.js';
import {decodeStatusMessage, statusOfHttp, type Status} from './status.js';

const internal = (details: string): Status => ({code: 'INTERNAL', details});

/**
 * Makes the outcome of a unary call from its HTTP/2 answer, whatever that is, and passes on what its message holds. Each
 * step may bring the outcome about; it is OK only when there is just one message.
 */
export class Answer {
  readonly #reader: MessageReader;
  #httpStatus: number | undefined;

  constructor(sink: MessageSink) {
    this.#reader = new MessageReader(sink);
  }

  /** Undefined fields are too many or too long ones. */
  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): Status | undefined {
    if (fields === undefined)
      return {code: 'RESOURCE_EXHAUSTED', details: 'Received headers larger than max'};
    if (this.#httpStatus !== undefined)
      return last ? this.#trailers(fields) : internal('protocol error: headers in the middle of an answer');
    const httpStatus = Number(valueOf(fields, ':status'));
    if (!(httpStatus >= 100 && httpStatus < 600))
      return internal('protocol error: an answer without an HTTP status');
    // Whatever is said before the answer.
    if (httpStatus < 200 && !last) return undefined;
    this.#httpStatus = httpStatus;
    return last ? this.#trailers(fields) : notGrpc(httpStatus, fields);
  }

  onData(piece: Buffer): Status | undefined {
    if (this.#httpStatus === undefined) return internal('protocol error: an answer without headers');
    const refused = this.#reader.push(piece);
    const {complete, isPartial} = this.#reader;
    if (complete + Number(isPartial) > 1)
      return {code: 'UNIMPLEMENTED', details: 'Too many responses received'};
    return refused;
  }

  /** The answer is over without trailers. */
  onEnd(): Status {
    return this.#httpStatus === 200 || this.#httpStatus === undefined
      ? internal('Call ended without gRPC status')
      : statusOfHttp(this.#httpStatus);
  }

  #trailers(fields: readonly HeaderField[]): Status {
    const status = valueOf(fields, 'grpc-status');
    if (status === undefined) return statusOfHttp(this.#httpStatus ?? 0);
    const code = grpcCodeOf(/^\d+$/.test(status) ? Number(status) : NaN);
    if (code !== 'OK') return {code, details: decodeStatusMessage(valueOf(fields, 'grpc-message') ?? '')};
    if (this.#reader.isPartial) return internal('the answer is cut off');
    if (this.#reader.complete === 0) return {code: 'UNIMPLEMENTED', details: 'No message received'};
    return {code, details: ''};
  }
}

/** A web server's answer; there is no need to read its page. */
function notGrpc(httpStatus: number, headers: readonly HeaderField[]): Status | undefined {
  const contentType = valueOf(headers, 'content-type') ?? 'application/grpc';
  return contentType.startsWith('application/grpc') ? undefined : statusOfHttp(httpStatus);
}

function valueOf(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field[0] === name)?.[1];
}
