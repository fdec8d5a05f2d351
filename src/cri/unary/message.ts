import {MAX_MESSAGE_BYTES, type MessageSink} from '../transport.js';
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

/** Finds the messages in pieces that are only lent, and passes on what the first one holds. */
export class MessageReader {
  readonly #sink: MessageSink;
  readonly #prefix = Buffer.alloc(PREFIX_LENGTH);
  #prefixLength = 0;
  /** What is still to come of a message whose prefix has come. */
  #left = 0;
  #complete = 0;

  constructor(sink: MessageSink) {
    this.#sink = sink;
  }

  /** How many messages are there in full. */
  get complete(): number {
    return this.#complete;
  }

  /** Whether there is the beginning of another message. */
  get isPartial(): boolean {
    return this.#prefixLength > 0;
  }

  /** Takes the next piece of the body; the result is what ends the call at once. */
  push(piece: Buffer): Status | undefined {
    for (let at = 0; at < piece.length;) {
      if (this.#prefixLength === PREFIX_LENGTH) at += this.#content(piece, at);
      else {
        at += this.#pushPrefix(piece, at);
        if (this.#prefixLength < PREFIX_LENGTH) continue;
        this.#left = this.#prefix.readUInt32BE(1);
        const refused = refusal(this.#prefix[0] ?? 0, this.#left);
        if (refused !== undefined) return refused;
      }
      if (this.#left === 0) this.#end();
    }
    return undefined;
  }

  #pushPrefix(piece: Buffer, at: number): number {
    const used = piece.copy(this.#prefix, this.#prefixLength, at);
    this.#prefixLength += used;
    return used;
  }

  #content(piece: Buffer, at: number): number {
    const end = Math.min(piece.length, at + this.#left);
    if (this.#complete === 0) this.#sink.push(piece.subarray(at, end));
    this.#left -= end - at;
    return end - at;
  }

  #end(): void {
    this.#complete += 1;
    this.#prefixLength = 0;
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
