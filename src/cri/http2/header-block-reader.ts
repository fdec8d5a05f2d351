import {HeaderDecoder, type HeaderField} from './hpack.js';
import {ERROR_CODE, FLAG, ProtocolError} from './protocol-constants.js';

/** A complete header block. */
export interface Headers {
  readonly streamId: number;
  /** Decoded fields; undefined if they exceed the maximum size. */
  readonly fields: readonly HeaderField[] | undefined;
  /** True if no more frames follow on the stream. */
  readonly endStream: boolean;
}

/** Length of a weight and a dependency, which are deprecated. */
const PRIORITY_LENGTH = 5;

interface OpenBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly parts: Buffer[];
  length: number;
}

/**
 * Reassembles HEADERS and CONTINUATION frames and decodes them. Blocks of canceled streams are decoded too, since
 * HPACK is stateful.
 */
export class HeaderBlockReader {
  readonly #decoder: HeaderDecoder;
  readonly #maxBytes: number;
  #open: OpenBlock | undefined;

  /** `tableLimit` is HeaderDecoder's. */
  constructor(maxBytes: number, tableLimit?: number) {
    this.#decoder = new HeaderDecoder(maxBytes, tableLimit);
    this.#maxBytes = maxBytes;
  }

  /** True between HEADERS and the last CONTINUATION, when no other frame is allowed. */
  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Reads a HEADERS frame. Returns undefined if CONTINUATION frames follow. */
  begin(flags: number, streamId: number, payload: Buffer): Headers | undefined {
    const fragment = fragmentOf(flags, payload);
    const endStream = (flags & FLAG.endStream) !== 0;
    if ((flags & FLAG.endHeaders) !== 0) return {streamId, endStream, fields: this.#decoder.decode(fragment)};
    this.#open = {streamId, endStream, parts: [Buffer.from(fragment)], length: fragment.length};
    return undefined;
  }

  /** Reads a CONTINUATION frame. Returns undefined if more follow. */
  continueBlock(flags: number, streamId: number, payload: Buffer): Headers | undefined {
    const open = this.#open;
    if (open?.streamId !== streamId) throw new ProtocolError(ERROR_CODE.protocol, 'unexpected CONTINUATION');
    open.parts.push(Buffer.from(payload));
    open.length += payload.length;
    if (open.length > this.#maxBytes || open.parts.length > this.#maxBytes / 64)
      throw new ProtocolError(ERROR_CODE.enhanceYourCalm, `headers of more than ${this.#maxBytes} bytes`);
    if ((flags & FLAG.endHeaders) === 0) return undefined;
    this.#open = undefined;
    const fields = this.#decoder.decode(Buffer.concat(open.parts, open.length));
    return {streamId, endStream: open.endStream, fields};
  }
}

/** Returns the fragment of the header block in a HEADERS frame. */
function fragmentOf(flags: number, payload: Buffer): Buffer {
  const padded = (flags & FLAG.padded) !== 0;
  const start = (padded ? 1 : 0) + ((flags & FLAG.priority) !== 0 ? PRIORITY_LENGTH : 0);
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0);
  if (start > end) throw new ProtocolError(ERROR_CODE.protocol, 'a frame has more padding than its length');
  return payload.subarray(start, end);
}
