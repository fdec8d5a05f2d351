import {Socket} from 'node:net';

type Done = (error?: Error | null) => void;

/**
 * A socket that goes on reading when it can't be written to any more; what is written then is lost. A server that
 * has said all and has hung up may have been sent something meanwhile, and Node.js's own sockets end with the failed
 * write and throw away what is still to be read.
 */
export class PatientSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, callback: Done): void {
    super._write(chunk, encoding, () => {
      callback();
    });
  }

  override _writev(chunks: {chunk: unknown; encoding: BufferEncoding}[], callback: Done): void {
    super._writev?.(chunks, () => {
      callback();
    });
  }
}
