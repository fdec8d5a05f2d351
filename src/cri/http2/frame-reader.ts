import {DEFAULT_MAX_FRAME_SIZE, ERROR, FLAG, FRAME, FRAME_HEADER_LENGTH, ProtocolError} from './protocol.js';

/** Told what comes in. */
export interface FrameHandler {
  /** A piece of a DATA frame without its padding, only lent; a frame may come in several. */
  onData(streamId: number, piece: Buffer): void;
  /** A DATA frame is complete; `length` is all that counts for flow control. */
  onDataEnd(streamId: number, flags: number, length: number): void;
  /** Any other frame, whole. The payload is only lent. */
  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void;
}

const NOTHING = Buffer.alloc(0);

/**
 * Takes a byte stream apart into HTTP/2 frames, however it is cut. Data is passed on as it comes, without a copy;
 * nothing but an incomplete header or other frame is kept. Throws ProtocolError for a frame that is longer than
 * was allowed, or all padding and more.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #head = Buffer.alloc(FRAME_HEADER_LENGTH);
  #headLength = 0;
  #reading: 'header' | 'padding length' | 'data' | 'payload' = 'header';
  #type = 0;
  #flags = 0;
  #streamId = 0;
  #length = 0;
  /** What is still to come of a DATA frame, and of its padding. */
  #dataLeft = 0;
  #paddingLeft = 0;
  /** What came of another frame, when not all came at once. */
  #payload = NOTHING;
  #payloadLength = 0;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) at = this.#step(chunk, at);
  }

  /** Reads one thing and gives the place after it. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#reading) {
      case 'header':
        return this.#header(chunk, at);
      case 'padding length':
        this.#beginPadded(chunk[at] ?? 0);
        return at + 1;
      case 'data':
        return this.#data(chunk, at);
      case 'payload':
        return this.#payloadPart(chunk, at);
      default:
        return this.#reading satisfies never;
    }
  }

  #header(chunk: Buffer, at: number): number {
    if (this.#headLength === 0 && chunk.length - at >= FRAME_HEADER_LENGTH) {
      this.#begin(chunk, at);
      return at + FRAME_HEADER_LENGTH;
    }
    const end = Math.min(chunk.length, at + FRAME_HEADER_LENGTH - this.#headLength);
    chunk.copy(this.#head, this.#headLength, at, end);
    this.#headLength += end - at;
    if (this.#headLength === FRAME_HEADER_LENGTH) {
      this.#headLength = 0;
      this.#begin(this.#head, 0);
    }
    return end;
  }

  #begin(header: Buffer, at: number): void {
    this.#length = header.readUIntBE(at, 3);
    this.#type = header[at + 3] ?? 0;
    this.#flags = header[at + 4] ?? 0;
    this.#streamId = header.readUInt32BE(at + 5) & 0x7fffffff;
    if (this.#length > DEFAULT_MAX_FRAME_SIZE)
      throw new ProtocolError(ERROR.frameSize, `a frame of ${this.#length} bytes`);
    if (this.#type !== FRAME.data) this.#beginPayload();
    else if ((this.#flags & FLAG.padded) === 0) this.#beginData(this.#length, 0);
    else if (this.#length === 0) throw tooMuchPadding();
    else this.#reading = 'padding length';
  }

  #beginPadded(padding: number): void {
    if (padding >= this.#length) throw tooMuchPadding();
    this.#beginData(this.#length - 1 - padding, padding);
  }

  #beginData(length: number, padding: number): void {
    this.#dataLeft = length;
    this.#paddingLeft = padding;
    this.#reading = 'data';
    if (length + padding === 0) this.#endData();
  }

  #data(chunk: Buffer, at: number): number {
    const dataEnd = Math.min(chunk.length, at + this.#dataLeft);
    if (dataEnd > at) this.#handler.onData(this.#streamId, chunk.subarray(at, dataEnd));
    this.#dataLeft -= dataEnd - at;
    const end = Math.min(chunk.length, dataEnd + this.#paddingLeft);
    this.#paddingLeft -= end - dataEnd;
    if (this.#dataLeft + this.#paddingLeft === 0) this.#endData();
    return end;
  }

  #endData(): void {
    this.#reading = 'header';
    this.#handler.onDataEnd(this.#streamId, this.#flags, this.#length);
  }

  #beginPayload(): void {
    if (this.#length === 0) this.#handler.onFrame(this.#type, this.#flags, this.#streamId, NOTHING);
    else this.#reading = 'payload';
  }

  #payloadPart(chunk: Buffer, at: number): number {
    if (this.#payloadLength === 0 && chunk.length - at >= this.#length) {
      const end = at + this.#length;
      this.#endPayload(chunk.subarray(at, end));
      return end;
    }
    if (this.#payloadLength === 0) this.#payload = Buffer.allocUnsafe(this.#length);
    const end = Math.min(chunk.length, at + this.#length - this.#payloadLength);
    chunk.copy(this.#payload, this.#payloadLength, at, end);
    this.#payloadLength += end - at;
    if (this.#payloadLength === this.#length) {
      const payload = this.#payload;
      this.#payload = NOTHING;
      this.#payloadLength = 0;
      this.#endPayload(payload);
    }
    return end;
  }

  #endPayload(payload: Buffer): void {
    this.#reading = 'header';
    this.#handler.onFrame(this.#type, this.#flags, this.#streamId, payload);
  }
}

function tooMuchPadding(): ProtocolError {
  return new ProtocolError(ERROR.protocol, 'a frame with more padding than it is long');
}
