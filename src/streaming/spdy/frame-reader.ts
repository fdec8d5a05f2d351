import {StreamingError} from '../errors.js';
import {FLAG_FIN, FRAME_HEADER_LENGTH} from './frames.js';

/** Kubernetes' servers send control frames of some ten bytes. */
const MAX_CONTROL_LENGTH = 64 * 1024;

/** Told what comes in. */
export interface FrameHandler {
  /** A piece of a data frame's payload; a frame may come in several. */
  onData(streamId: number, piece: Buffer): void;
  /** The last data frame of a stream is complete. */
  onFin(streamId: number): void;
  /** A whole control frame. */
  onControl(type: number, flags: number, payload: Buffer): void;
}

type State =
  | {readonly kind: 'header'}
  | {readonly kind: 'control'; readonly type: number; readonly flags: number; readonly length: number}
  | {readonly kind: 'data'; readonly streamId: number; readonly fin: boolean; left: number};

const HEADER: State = {kind: 'header'};
const NOTHING = Buffer.alloc(0);

/**
 * Takes a byte stream apart into SPDY/3.1 frames. Data is passed on as it comes and nothing but an incomplete
 * header or control frame is kept.
 */
export class FrameReader {
  readonly #handler: FrameHandler;
  #kept = NOTHING;
  #state: State = HEADER;

  constructor(handler: FrameHandler) {
    this.#handler = handler;
  }

  /** True between frames: a connection that ends here has lost nothing. */
  get isBetweenFrames(): boolean {
    return this.#state.kind === 'header' && this.#kept.length === 0;
  }

  /** Throws StreamingError for what is not SPDY/3.1. */
  read(chunk: Buffer): void {
    let rest = chunk;
    if (this.#kept.length > 0) rest = Buffer.concat([this.#kept, chunk]);
    this.#kept = NOTHING;
    for (let used = this.#step(rest); used > 0; used = this.#step(rest)) rest = rest.subarray(used);
    // A copy, so that a few bytes don't hold the whole chunk.
    if (rest.length > 0) this.#kept = Buffer.from(rest);
  }

  /** Reads one thing from the front and gives its length; 0 when more is needed. */
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
        const piece = bytes.length > state.left ? bytes.subarray(0, state.left) : bytes;
        state.left -= piece.length;
        if (piece.length > 0) this.#handler.onData(state.streamId, piece);
        if (state.left === 0) this.#endOfData(state.streamId, state.fin);
        return piece.length;
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
    else this.#state = {kind: 'data', streamId, fin, left: length};
  }

  #endOfData(streamId: number, fin: boolean): void {
    this.#state = HEADER;
    if (fin) this.#handler.onFin(streamId);
  }

  #control(versionAndType: number, flags: number, length: number): void {
    const version = versionAndType >>> 16;
    if (version !== 3) throw new StreamingError('the streaming server sent something that is not SPDY/3.1');
    if (length > MAX_CONTROL_LENGTH)
      throw new StreamingError(`the streaming server sent a control frame of ${length} bytes`);
    if (length === 0) this.#handler.onControl(versionAndType & 0xffff, flags, NOTHING);
    else this.#state = {kind: 'control', type: versionAndType & 0xffff, flags, length};
  }
}
