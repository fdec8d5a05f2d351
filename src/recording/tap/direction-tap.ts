import {FrameReader, type FrameHandler} from '../../cri/http2/frame-reader.js';
import {PREFACE} from '../../cri/http2/frames.js';
import {HeaderBlockReader, type Headers} from '../../cri/http2/header-block-reader.js';
import {
  ERROR_CODE,
  FLAG,
  FRAME,
  LARGEST_MAX_FRAME_SIZE,
  ProtocolError,
} from '../../cri/http2/protocol-constants.js';

/** Limits for peers that have announced more to each other than HTTP/2's defaults. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** Receives what one side of a connection sends. */
export interface DirectionHandler {
  onHeaders(headers: Headers): void;
  /** The chunk is only valid during the call. */
  onData(streamId: number, chunk: Buffer): void;
  /** Called after the last data of a stream. */
  onEnd(streamId: number): void;
  onReset(streamId: number, errorCode: number): void;
}

/** Reads along what one side of an HTTP/2 connection sends. */
export class DirectionTap implements FrameHandler {
  readonly #handler: DirectionHandler;
  readonly #frames = new FrameReader(this, LARGEST_MAX_FRAME_SIZE);
  readonly #headers = new HeaderBlockReader(MAX_HEADER_BYTES, MAX_HEADER_BYTES);
  /** Part of the client's preface that is still expected. */
  #preface: Buffer;

  /** `from` is the side that sends; a client sends a preface first. */
  constructor(handler: DirectionHandler, from: 'client' | 'server') {
    this.#handler = handler;
    this.#preface = from === 'client' ? PREFACE : Buffer.alloc(0);
  }

  /** Reads the next bytes. Throws ProtocolError if they are not HTTP/2. */
  read(chunk: Buffer): void {
    const length = Math.min(this.#preface.length, chunk.length);
    if (length > 0) {
      if (!chunk.subarray(0, length).equals(this.#preface.subarray(0, length)))
        throw new ProtocolError(ERROR_CODE.protocol, 'the connection preface is missing');
      this.#preface = this.#preface.subarray(length);
    }
    this.#frames.read(chunk.subarray(length));
  }

  /** True if a frame of this program may be inserted after what was read. */
  get isBetweenFrames(): boolean {
    return this.#preface.length === 0 && this.#frames.isBetweenFrames && !this.#headers.isOpen;
  }

  onData(streamId: number, chunk: Buffer): void {
    this.#handler.onData(streamId, chunk);
  }

  onDataEnd(streamId: number, flags: number): void {
    if ((flags & FLAG.endStream) !== 0) this.#handler.onEnd(streamId);
  }

  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (type === FRAME.headers) this.#pass(this.#headers.begin(flags, streamId, payload));
    else if (type === FRAME.continuation) this.#pass(this.#headers.continueBlock(flags, streamId, payload));
    else if (type === FRAME.rstStream && payload.length === 4)
      this.#handler.onReset(streamId, payload.readUInt32BE());
  }

  #pass(headers: Headers | undefined): void {
    if (headers === undefined) return;
    this.#handler.onHeaders(headers);
    if (headers.endStream) this.#handler.onEnd(headers.streamId);
  }
}
