import {MAX_MESSAGE_BYTES} from '../transport.js';
import type {Status} from './status.js';

/** A flag and the length. */
const PREFIX_LENGTH = 5;

/** A message as gRPC sends it. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_LENGTH);
  return framed;
}

/** Reads messages from pieces, of which it keeps nothing: they may be lent. */
export class MessageReader {
  /** Whole messages, for whoever reads them to take away. */
  readonly messages: Buffer[] = [];
  readonly #prefix = Buffer.alloc(PREFIX_LENGTH);
  #prefixLength = 0;
  /** What there is of a message, and room for the rest of it. */
  #message: Buffer | undefined;
  #length = 0;

  /** Whether there is the beginning of another message. */
  get isPartial(): boolean {
    return this.#prefixLength > 0;
  }

  /** Takes the next piece of the body; the result is what ends the call at once. */
  push(piece: Buffer): Status | undefined {
    for (let at = 0; at < piece.length;) {
      at += this.#message === undefined ? this.#pushPrefix(piece, at) : this.#fill(this.#message, piece, at);
      if (this.#prefixLength < PREFIX_LENGTH || this.#message !== undefined) continue;
      const length = this.#prefix.readUInt32BE(1);
      const refused = refusal(this.#prefix[0] ?? 0, length);
      if (refused !== undefined) return refused;
      this.#fill(Buffer.allocUnsafe(length), piece, piece.length);
    }
    return undefined;
  }

  #pushPrefix(piece: Buffer, at: number): number {
    const used = piece.copy(this.#prefix, this.#prefixLength, at);
    this.#prefixLength += used;
    return used;
  }

  #fill(message: Buffer, piece: Buffer, at: number): number {
    const used = piece.copy(message, this.#length, at);
    this.#length += used;
    this.#message = message;
    if (this.#length === message.length) {
      this.messages.push(message);
      this.#message = undefined;
      this.#length = this.#prefixLength = 0;
    }
    return used;
  }
}

function refusal(flag: number, length: number): Status | undefined {
  if (flag !== 0) return {code: 'INTERNAL', details: 'the answer is compressed, which nobody asked for'};
  if (length > MAX_MESSAGE_BYTES)
    return {
      code: 'RESOURCE_EXHAUSTED',
      details: `Received message larger than max (${length} vs ${MAX_MESSAGE_BYTES})`,
    };
  return undefined;
}
