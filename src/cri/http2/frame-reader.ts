import {readUint32} from './byte-order.js';
import {
  DEFAULT_MAX_FRAME_SIZE,
  ERROR_CODE,
  FLAG,
  FRAME,
  FRAME_HEADER_LENGTH,
  ProtocolError,
} from './protocol-constants.js';

/** Receives what a FrameReader reads. */
export interface FrameHandler {
  /**
   * Called with a part of a DATA frame without its padding; a frame may arrive in several parts. The chunk is only
   * valid during the call.
   */
  onData(streamId: number, chunk: Buffer): void;
  /** Called after each DATA frame. `length` is the size that counts for flow control. */
  onDataEnd(streamId: number, flags: number, length: number): void;
  /** Called with any other frame. The payload is only valid during the call. */
  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void;
}

const EMPTY = Buffer.allocUnsafe(0);

/**
 * Splits a byte stream into HTTP/2 frames, wherever its chunks are cut. Passes data on as it arrives, without a copy,
 * and buffers only incomplete headers and other frames. Throws ProtocolError for a frame that exceeds the maximum
 * size or has too much padding.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  readonly #maxFrameSize: number;
  readonly #head = Buffer.allocUnsafe(FRAME_HEADER_LENGTH);
  #headLength = 0;
  #reading: 'header' | 'padding length' | 'data' | 'payload' = 'header';
  #type = 0;
  #flags = 0;
  #streamId = 0;
  #length = 0;
  /** Remaining bytes of a DATA frame, and of its padding. */
  #remainingData = 0;
  #remainingPadding = 0;
  /** Bytes received of another frame that did not arrive in one chunk. */
  #payload = EMPTY;
  #payloadLength = 0;

  /** `maxFrameSize` is the maximum that this side has announced to its peer. */
  constructor(handler: FrameHandler, maxFrameSize: number = DEFAULT_MAX_FRAME_SIZE) {
    this.#handler = handler;
    this.#maxFrameSize = maxFrameSize;
  }

  /** True if what was read ends with a frame. */
  get isBetweenFrames(): boolean {
    return this.#reading === 'header' && this.#headLength === 0;
  }

  read(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) at = this.#step(chunk, at);
  }

  /** Reads the next element and returns the offset after it. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#reading) {
      case 'header':
        return this.#readHeader(chunk, at);
      case 'padding length':
        this.#startPadded(chunk[at] ?? 0);
        return at + 1;
      case 'data':
        return this.#readData(chunk, at);
      case 'payload':
        return this.#readPayload(chunk, at);
      default:
        return this.#reading satisfies never;
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    if (this.#headLength === 0 && chunk.length - at >= FRAME_HEADER_LENGTH) {
      this.#startFrame(chunk, at);
      return at + FRAME_HEADER_LENGTH;
    }
    const end = Math.min(chunk.length, at + FRAME_HEADER_LENGTH - this.#headLength);
    this.#head.set(chunk.subarray(at, end), this.#headLength);
    this.#headLength += end - at;
    if (this.#headLength === FRAME_HEADER_LENGTH) {
      this.#headLength = 0;
      this.#startFrame(this.#head, 0);
    }
    return end;
  }

  #startFrame(header: Buffer, at: number): void {
    this.#length = readUint32(header, at) >>> 8;
    this.#type = header[at + 3] ?? 0;
    this.#flags = header[at + 4] ?? 0;
    this.#streamId = readUint32(header, at + 5) & 0x7fffffff;
    if (this.#length > this.#maxFrameSize)
      throw new ProtocolError(ERROR_CODE.frameSize, `a frame of ${this.#length} bytes`);
    if (this.#type !== FRAME.data) this.#startPayload();
    else if ((this.#flags & FLAG.padded) === 0) this.#startData(this.#length, 0);
    else if (this.#length === 0) throw tooMuchPadding();
    else this.#reading = 'padding length';
  }

  #startPadded(padding: number): void {
    if (padding >= this.#length) throw tooMuchPadding();
    this.#startData(this.#length - 1 - padding, padding);
  }

  #startData(length: number, padding: number): void {
    this.#remainingData = length;
    this.#remainingPadding = padding;
    this.#reading = 'data';
    if (length + padding === 0) this.#endData();
  }

  #readData(chunk: Buffer, at: number): number {
    const dataEnd = Math.min(chunk.length, at + this.#remainingData);
    if (dataEnd > at) this.#handler.onData(this.#streamId, chunk.subarray(at, dataEnd));
    this.#remainingData -= dataEnd - at;
    const end = Math.min(chunk.length, dataEnd + this.#remainingPadding);
    this.#remainingPadding -= end - dataEnd;
    if (this.#remainingData + this.#remainingPadding === 0) this.#endData();
    return end;
  }

  #endData(): void {
    this.#reading = 'header';
    this.#handler.onDataEnd(this.#streamId, this.#flags, this.#length);
  }

  #startPayload(): void {
    if (this.#length === 0) this.#handler.onFrame(this.#type, this.#flags, this.#streamId, EMPTY);
    else this.#reading = 'payload';
  }

  #readPayload(chunk: Buffer, at: number): number {
    if (this.#payloadLength === 0 && chunk.length - at >= this.#length) {
      const end = at + this.#length;
      this.#endPayload(chunk.subarray(at, end));
      return end;
    }
    if (this.#payloadLength === 0) this.#payload = Buffer.allocUnsafe(this.#length);
    const end = Math.min(chunk.length, at + this.#length - this.#payloadLength);
    this.#payload.set(chunk.subarray(at, end), this.#payloadLength);
    this.#payloadLength += end - at;
    if (this.#payloadLength === this.#length) {
      const payload = this.#payload;
      this.#payload = EMPTY;
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
  return new ProtocolError(ERROR_CODE.protocol, 'a frame has more padding than its length');
}
