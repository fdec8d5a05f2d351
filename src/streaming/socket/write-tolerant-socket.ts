import {Socket} from 'node:net';

type Done = (error?: Error | null) => void;

/**
 * Socket that continues reading after a failed write, and drops further writes. A server may close the connection while
 * the client sends; Node.js would then destroy the socket with its unread data.
 */
export class WriteTolerantSocket extends Socket {
  /**
   * True if a write has failed. Further writes are dropped: in Bun, a second failure would end the socket before it is
   * read.
   */
  #hasFailed = false;

  override _write(chunk: unknown, encoding: BufferEncoding, callback: Done): void {
    if (this.#hasFailed) callback();
    else super._write(chunk, encoding, this.#ignoreErrors(callback));
  }

  override _writev(chunks: {chunk: unknown; encoding: BufferEncoding}[], callback: Done): void {
    if (this.#hasFailed) callback();
    else super._writev?.(chunks, this.#ignoreErrors(callback));
  }

  #ignoreErrors(callback: Done): Done {
    return (error) => {
      this.#hasFailed ||= error instanceof Error;
      callback();
    };
  }
}
