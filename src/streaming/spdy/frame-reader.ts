import {StreamingError} from '../session/errors.js';
import {FLAG_FIN, FRAME_HEADER_LENGTH} from './frames.js';

/** Maximum length of a control frame, in bytes. Kubernetes' servers send some ten bytes. */
const MAX_CONTROL_LENGTH = 64 * 1024;

/** Receiver of the frames of a FrameReader. */
export interface FrameHandler {
  /** Called with a part of a data frame; a frame may arrive in several parts. */
  onData(streamId: number, chunk: Buffer): void;
  /** Called after the last data frame of a stream. */
  onFin(streamId: number): void;
  /** Called with a complete control frame. */
  onControl(type: number, flags: number, payload: Buffer): void;
}

type State =
  | {readonly kind: 'header'}
  | {readonly kind: 'control'; readonly type: number; readonly flags: number; readonly length: number}
  | {readonly kind: 'data'; readonly streamId: number; readonly fin: boolean; remaining: number};

const HEADER: State = {kind: 'header'};
const EMPTY = Buffer.alloc(0);

/**
 * Splits a byte stream into SPDY/3.1 frames. Passes data on as it arrives and buffers only incomplete headers and
 * control frames.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  #buffered = EMPTY;
  #state: State = HEADER;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** True if the reader is between frames: a connection that ends here is complete. */
  get isBetweenFrames(): boolean {
    return this.#state.kind === 'header' && this.#buffered.length === 0;
  }

  /** Reads a chunk. Throws StreamingError for anything other than SPDY/3.1. */
  read(chunk: Buffer): void {
    let remaining = chunk;
    if (this.#buffered.length > 0) remaining = Buffer.concat([this.#buffered, chunk]);
    this.#buffered = EMPTY;
    for (let used = this.#step(remaining); used > 0; used = this.#step(remaining))
      remaining = remaining.subarray(used);
    // Copied, so that a few bytes do not retain the whole chunk.
    if (remaining.length > 0) this.#buffered = Buffer.from(remaining);
  }

  /** Reads the next element and returns its length; 0 if more bytes are needed. */
  #step(bytes: Buffer): number {
    const state = this.#state;
    switch (state.kind) {
      case 'header':
        if (bytes.length < FRAME_HEADER_LENGTH) return 0;
        this.#header(bytes);
        return FRAME_HEADER_LENGTH;
      case 'control':
        if (bytes.length < state.length) return 0;
        this.#state = HEADER;
        this.#handler.onControl(state.type, state.flags, bytes.subarray(0, state.length));
        return state.length;
      case 'data': {
        const chunk = bytes.length > state.remaining ? bytes.subarray(0, state.remaining) : bytes;
        state.remaining -= chunk.length;
        if (chunk.length > 0) this.#handler.onData(state.streamId, chunk);
        if (state.remaining === 0) this.#endOfData(state.streamId, state.fin);
        return chunk.length;
      }
      default:
        return state satisfies never;
    }
  }

  #header(bytes: Buffer): void {
    const first = bytes.readUInt32BE(0);
    const flags = bytes.readUInt8(4);
    const length = bytes.readUIntBE(5, 3);
    if (first < 0x80000000) this.#data(first, length, (flags & FLAG_FIN) !== 0);
    else this.#control(first - 0x80000000, flags, length);
  }

  #data(streamId: number, length: number, fin: boolean): void {
    if (length === 0) this.#endOfData(streamId, fin);
    else this.#state = {kind: 'data', streamId, fin, remaining: length};
  }

  #endOfData(streamId: number, fin: boolean): void {
    this.#state = HEADER;
    if (fin) this.#handler.onFin(streamId);
  }

  #control(versionAndType: number, flags: number, length: number): void {
    const version = versionAndType >>> 16;
    if (version !== 3) throw new StreamingError('the streaming server does not speak SPDY/3.1');
    if (length > MAX_CONTROL_LENGTH)
      throw new StreamingError(`the streaming server sent a control frame of ${length} bytes`);
    if (length === 0) this.#handler.onControl(versionAndType & 0xffff, flags, EMPTY);
    else this.#state = {kind: 'control', type: versionAndType & 0xffff, flags, length};
  }
}
