import {gunzipSync, inflateSync} from 'node:zlib';
import type {ByteBudget} from './byte-budget.js';

/** Why the content of a message is not recorded. */
export type Omission = 'too large' | 'out of memory' | 'unknown encoding' | 'malformed';

/** A message as it was sent. */
export interface TappedMessage {
  /** Length on the wire, in bytes. */
  readonly length: number;
  /** Content after decompression. */
  readonly content: Buffer | undefined;
  /** Why there is no content; undefined if there is, or if none was asked for. */
  readonly omitted: Omission | undefined;
}

/** Limits of what is collected. */
export interface CollectorLimits {
  /** Maximum length of a message, also after decompression, in bytes; longer ones have no content. 0 collects none. */
  readonly maxMessageBytes: number;
  /** Limit of all messages together. */
  readonly budget: ByteBudget;
}

/** Length of a message prefix: compression flag and message length. */
const PREFIX_LENGTH = 5;

/** Splits the body of one side of a call into gRPC messages. */
export class MessageCollector {
  readonly #limits: CollectorLimits;
  readonly #encoding: () => string | undefined;
  readonly #receive: (message: TappedMessage) => void;
  readonly #prefix = Buffer.alloc(PREFIX_LENGTH);
  #prefixLength = 0;
  #length = 0;
  #remaining = 0;
  #content: Buffer | undefined;
  #omitted: Omission | undefined;

  /**
   * `receive` is called with each complete message and gives its content back to the budget with `releaseMessage`;
   * `encoding` returns the value of grpc-encoding.
   */
  constructor(
    limits: CollectorLimits,
    encoding: () => string | undefined,
    receive: (message: TappedMessage) => void,
  ) {
    this.#limits = limits;
    this.#encoding = encoding;
    this.#receive = receive;
  }

  /** Reads the next part of the body. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#prefixLength < PREFIX_LENGTH) {
        const read = chunk.copy(this.#prefix, this.#prefixLength, at);
        at += read;
        this.#prefixLength += read;
        if (this.#prefixLength < PREFIX_LENGTH) return;
        this.#begin(this.#prefix.readUInt32BE(1));
      } else at += this.#read(chunk, at);
      if (this.#remaining === 0) this.#end();
    }
  }

  #begin(length: number): void {
    const {maxMessageBytes, budget} = this.#limits;
    this.#length = length;
    this.#remaining = length;
    this.#omitted = undefined;
    if (maxMessageBytes === 0) return;
    if (length > maxMessageBytes) this.#omitted = 'too large';
    else if (!budget.take(length)) this.#omitted = 'out of memory';
    else this.#content = Buffer.allocUnsafe(length);
  }

  #read(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#remaining);
    if (this.#content !== undefined) chunk.copy(this.#content, this.#length - this.#remaining, at, end);
    this.#remaining -= end - at;
    return end - at;
  }

  #end(): void {
    const content = this.#content;
    this.#content = undefined;
    this.#prefixLength = 0;
    this.#receive({length: this.#length, content, omitted: this.#omitted, ...this.#decompressed(content)});
  }

  #decompressed(content: Buffer | undefined): Partial<TappedMessage> {
    if (content === undefined || this.#prefix[0] === 0) return {};
    const {maxMessageBytes, budget} = this.#limits;
    const result = decompress(content, this.#encoding(), maxMessageBytes);
    if (Buffer.isBuffer(result) && budget.take(result.length - content.length)) return {content: result};
    budget.release(content.length);
    return {content: undefined, omitted: Buffer.isBuffer(result) ? 'out of memory' : result};
  }

  /** Drops an incomplete message. */
  drop(): void {
    if (this.#content !== undefined) this.#limits.budget.release(this.#content.length);
    this.#content = undefined;
  }
}

/** Gives the memory of a message back. */
export function releaseMessage({content}: TappedMessage, {budget}: CollectorLimits): void {
  if (content !== undefined) budget.release(content.length);
}

function decompress(content: Buffer, encoding: string | undefined, maxBytes: number): Buffer | Omission {
  const decompressors = {gzip: gunzipSync, deflate: inflateSync} as const;
  if (encoding !== 'gzip' && encoding !== 'deflate') return 'unknown encoding';
  try {
    return decompressors[encoding](content, {maxOutputLength: maxBytes});
  } catch (error) {
    return (error as {code?: string}).code === 'ERR_BUFFER_TOO_LARGE' ? 'too large' : 'malformed';
  }
}
