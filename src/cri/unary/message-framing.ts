import {readUint32, writeUint32} from '../http2/byte-order.js';
import {MAX_MESSAGE_BYTES, type MessageSink} from '../transport.js';
import type {GrpcStatus} from './grpc-status.js';

/** Length of a message prefix: compression flag and message length. */
const PREFIX_LENGTH = 5;

/** Adds the gRPC prefix to a message. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  framed[0] = 0;
  writeUint32(framed, 1, message.length);
  framed.set(message, PREFIX_LENGTH);
  return framed;
}

/**
 * Splits the body into messages and passes the content of the first one on. Chunks are only valid during the call.
 */
export class MessageReader {
  readonly #sink: MessageSink;
  readonly #prefix = Buffer.allocUnsafe(PREFIX_LENGTH);
  #prefixLength = 0;
  /** Remaining bytes of the current message. */
  #remaining = 0;
  #complete = 0;

  constructor(sink: MessageSink) {
    this.#sink = sink;
  }

  /** Number of complete messages. */
  get completeCount(): number {
    return this.#complete;
  }

  /** True if another message has started. */
  get isPartial(): boolean {
    return this.#prefixLength > 0;
  }

  /** Reads the next chunk of the body. Returns a status if the call must end. */
  push(chunk: Buffer): GrpcStatus | undefined {
    for (let at = 0; at < chunk.length;) {
      if (this.#prefixLength === PREFIX_LENGTH) at += this.#content(chunk, at);
      else {
        at += this.#pushPrefix(chunk, at);
        if (this.#prefixLength < PREFIX_LENGTH) continue;
        this.#remaining = readUint32(this.#prefix, 1);
        const failure = checkPrefix(this.#prefix[0] ?? 0, this.#remaining);
        if (failure !== undefined) return failure;
      }
      if (this.#remaining === 0) this.#end();
    }
    return undefined;
  }

  #pushPrefix(chunk: Buffer, at: number): number {
    const used = chunk.subarray(at, at + PREFIX_LENGTH - this.#prefixLength);
    this.#prefix.set(used, this.#prefixLength);
    this.#prefixLength += used.length;
    return used.length;
  }

  #content(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#remaining);
    if (this.#complete === 0) this.#sink.push(chunk.subarray(at, end));
    this.#remaining -= end - at;
    return end - at;
  }

  #end(): void {
    this.#complete += 1;
    this.#prefixLength = 0;
  }
}

function checkPrefix(flag: number, length: number): GrpcStatus | undefined {
  if (flag !== 0) return {code: 'INTERNAL', details: 'the response is compressed, which was not requested'};
  if (length > MAX_MESSAGE_BYTES)
    return {
      code: 'RESOURCE_EXHAUSTED',
      details: `Received message larger than max (${length} vs ${MAX_MESSAGE_BYTES})`,
    };
  return undefined;
}
