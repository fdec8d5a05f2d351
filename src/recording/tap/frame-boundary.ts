import {readUint32} from '../../cri/http2/byte-order.js';
import {FLAG, FRAME, FRAME_HEADER_LENGTH} from '../../cri/http2/protocol-constants.js';

/** Follows the frames that a server sends, without reading them: only where they end. */
export class FrameBoundary {
  readonly #header = Buffer.alloc(FRAME_HEADER_LENGTH);
  #headerLength = 0;
  #remaining = 0;
  #isInHeaders = false;

  /** True if a frame may be inserted after what was passed. */
  get isBetweenFrames(): boolean {
    return this.#headerLength === 0 && this.#remaining === 0 && !this.#isInHeaders;
  }

  /** Follows the next bytes. */
  pass(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#remaining > 0) {
        const skipped = Math.min(this.#remaining, chunk.length - at);
        this.#remaining -= skipped;
        at += skipped;
      } else if (this.#headerLength === 0 && chunk.length - at >= FRAME_HEADER_LENGTH) {
        this.#begin(chunk, at);
        at += FRAME_HEADER_LENGTH;
      } else {
        const copied = chunk.copy(this.#header, this.#headerLength, at);
        this.#headerLength += copied;
        at += copied;
        if (this.#headerLength < FRAME_HEADER_LENGTH) return;
        this.#headerLength = 0;
        this.#begin(this.#header, 0);
      }
    }
  }

  #begin(header: Buffer, at: number): void {
    this.#remaining = readUint32(header, at) >>> 8;
    const type = header[at + 3] ?? 0;
    if (type === FRAME.headers || type === FRAME.continuation)
      this.#isInHeaders = ((header[at + 4] ?? 0) & FLAG.endHeaders) === 0;
  }
}
