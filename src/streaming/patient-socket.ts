import {Socket} from 'node:net';

type Done = (error?: Error | null) => void;

/**
 * A socket that goes on reading when it can't be written to any more; what is written then is lost. A server that
 * has said all and has hung up may have been sent something meanwhile, and Node.js's own sockets end with the failed
 * write and throw away what is still to be read.
 */
export class PatientSocket extends Socket {
  /** Nothing more is tried then: Bun would end the socket with the second failure, before it reads. */
  #hasFailed = false;

  override _write(chunk: unknown, encoding: BufferEncoding, callback: Done): void {
    if (this.#hasFailed) callback();
    else super._write(chunk, encoding, this.#noting(callback));
  }

  override _writev(chunks: {chunk: unknown; encoding: BufferEncoding}[], callback: Done): void {
    if (this.#hasFailed) callback();
    else super._writev?.(chunks, this.#noting(callback));
  }

  #noting(callback: Done): Done {
    return (error) => {
      this.#hasFailed ||= error instanceof Error;
      callback();
    };
  }
}
