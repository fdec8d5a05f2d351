import {MAX_MESSAGE_BYTES} from '../transport.js';
import type {Status} from './status.js';

/** A flag and the length. */
const PREFIX_LENGTH = 5;
/** So many pieces of less than a KiB on average are put together, so that they cost no more than their bytes. */
const SMALL_PIECES = 1024;

/** A message as gRPC sends it. */
export function frameMessage(message: Uint8Array): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_LENGTH + message.length);
  framed[0] = 0;
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_LENGTH);
  return framed;
}

/**
 * Reads the one message of an answer from pieces, which it keeps and joins once at the end; a message that comes in
 * one piece is not copied.
 */
export class MessageReader {
  readonly #prefix = Buffer.alloc(PREFIX_LENGTH);
  #prefixLength = 0;
  #pieces: Buffer[] = [];
  #left = 0;
  /** Of the newest pieces: how many, and their bytes. */
  #newPieces = 0;
  #newBytes = 0;

  /** The message, when it is there: `nothing` came at all, or only a `part`. */
  get result(): Buffer | 'nothing' | 'part' {
    if (this.#prefixLength === 0) return 'nothing';
    if (this.#prefixLength < PREFIX_LENGTH || this.#left > 0) return 'part';
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
  }

  /** Takes the next piece of the body; the result is what ends the call at once. */
  push(piece: Buffer): Status | undefined {
    let body = piece;
    if (this.#prefixLength < PREFIX_LENGTH) {
      const used = piece.copy(this.#prefix, this.#prefixLength);
      this.#prefixLength += used;
      if (this.#prefixLength < PREFIX_LENGTH) return undefined;
      this.#left = this.#prefix.readUInt32BE(1);
      const refused = refusal(this.#prefix[0] ?? 0, this.#left);
      if (refused !== undefined) return refused;
      body = piece.subarray(used);
    }
    if (body.length > this.#left) return {code: 'UNIMPLEMENTED', details: 'Too many responses received'};
    if (body.length > 0) this.#keep(body);
    return undefined;
  }

  #keep(piece: Buffer): void {
    this.#left -= piece.length;
    this.#pieces.push(piece);
    this.#newPieces += 1;
    this.#newBytes += piece.length;
    if (this.#newPieces < SMALL_PIECES) return;
    if (this.#newBytes < SMALL_PIECES * 1024)
      this.#pieces.push(Buffer.concat(this.#pieces.splice(-SMALL_PIECES), this.#newBytes));
    this.#newPieces = this.#newBytes = 0;
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
