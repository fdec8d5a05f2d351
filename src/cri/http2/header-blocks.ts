import {HeaderDecoder, type HeaderField} from './hpack.js';
import {ERROR, FLAG, ProtocolError} from './protocol.js';

/** A complete block of headers. */
export interface Headers {
  readonly streamId: number;
  /** Undefined when there were too many, or too long ones. */
  readonly fields: readonly HeaderField[] | undefined;
  /** Nothing comes after them. */
  readonly endStream: boolean;
}

/** A weight and a dependency, which nobody uses any more. */
const PRIORITY_LENGTH = 5;

interface OpenBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly parts: Buffer[];
  length: number;
}

/** Puts HEADERS and their CONTINUATIONs together and decodes them, those that nobody waits for too. */
export class HeaderBlocks {
  readonly #decoder: HeaderDecoder;
  readonly #maxBytes: number;
  #open: OpenBlock | undefined;

  constructor(maxBytes: number) {
    this.#decoder = new HeaderDecoder(maxBytes);
    this.#maxBytes = maxBytes;
  }

  /** True between HEADERS and the last of their CONTINUATIONs: nothing else may come. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** HEADERS; the result is undefined when they go on. */
  begin(flags: number, streamId: number, payload: Buffer): Headers | undefined {
    const fragment = fragmentOf(flags, payload);
    const endStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) return {streamId, endStream, fields: this.#decoder.decode(fragment)};
    this.#open = {streamId, endStream, parts: [Buffer.from(fragment)], length: fragment.length};
    return undefined;
  }

  /** A CONTINUATION; the result is undefined when there is yet another. */
  goOn(flags: number, streamId: number, payload: Buffer): Headers | undefined {
    const open = this.#open;
    if (open?.streamId !== streamId)
      throw new ProtocolError(ERROR.protocol, 'a CONTINUATION that continues nothing');
    open.parts.push(Buffer.from(payload));
    open.length += payload.length;
    if (open.length > this.#maxBytes || open.parts.length > this.#maxBytes / 64)
      throw new ProtocolError(ERROR.enhanceYourCalm, `headers of more than ${this.#maxBytes} bytes`);
    if ((flags & FLAG.endHeaders) === 0) return undefined;
    this.#open = undefined;
    const fields = this.#decoder.decode(Buffer.concat(open.parts, open.length));
    return {streamId, endStream: open.endStream, fields};
  }
}

/** The part of the block that HEADERS carry. */
function fragmentOf(flags: number, payload: Buffer): Buffer {
  const padded = (flags & FLAG.padded) !== 0;
  const start = (padded ? 1 : 0) + ((flags & FLAG.priority) !== 0 ? PRIORITY_LENGTH : 0);
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0);
  if (start > end) throw new ProtocolError(ERROR.protocol, 'a frame with more padding than it is long');
  return payload.subarray(start, end);
}
