import {grpcCodeOf} from '../errors.js';
import type {HeaderField} from '../http2/hpack.js';
import {MessageReader} from './message.js';
import {decodeStatusMessage, statusOfHttp, type Status} from './status.js';

/** The one message, or why there is none. */
export type Outcome = Buffer | Status;

const internal = (details: string): Status => ({code: 'INTERNAL', details});

/** Makes the outcome of a unary call from its HTTP/2 answer, whatever that is. Each step may bring it about. */
export class Answer {
  readonly #reader = new MessageReader();
  #httpStatus: number | undefined;

  /** Undefined fields are too many or too long ones. */
  onHeaders(fields: readonly HeaderField[] | undefined, last: boolean): Outcome | undefined {
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

  onData(piece: Buffer): Outcome | undefined {
    if (this.#httpStatus === undefined) return internal('protocol error: an answer without headers');
    const refused = this.#reader.push(piece);
    const {messages, isPartial} = this.#reader;
    if (messages.length + Number(isPartial) > 1)
      return {code: 'UNIMPLEMENTED', details: 'Too many responses received'};
    return refused;
  }

  /** The answer is over without trailers. */
  onEnd(): Outcome {
    return this.#httpStatus === 200 || this.#httpStatus === undefined
      ? internal('Call ended without gRPC status')
      : statusOfHttp(this.#httpStatus);
  }

  #trailers(fields: readonly HeaderField[]): Outcome {
    const status = valueOf(fields, 'grpc-status');
    if (status === undefined) return statusOfHttp(this.#httpStatus ?? 0);
    const code = grpcCodeOf(/^\d+$/.test(status) ? Number(status) : NaN);
    if (code !== 'OK') return {code, details: decodeStatusMessage(valueOf(fields, 'grpc-message') ?? '')};
    if (this.#reader.isPartial) return internal('the answer is cut off');
    return this.#reader.messages[0] ?? {code: 'UNIMPLEMENTED', details: 'No message received'};
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
