import type {OnReadOpts} from 'node:net';
import type {Duplex} from 'node:stream';
import {ReadBufferPool, type BufferPressureObserver, type RetainBuffer} from './read-buffer-pool.js';

/** Receiver of chunks. The memory of a chunk is reused after this returns, unless it is retained. */
export type OnChunk = (chunk: Buffer, retain: RetainBuffer) => void;

/**
 * Socket that reuses a few read buffers: allocating and collecting a buffer per read takes a third of the CPU time of
 * long transfers. It is an ordinary stream until `takeOver`. It continues reading after a failed write.
 */
export interface ReusingSocket extends Duplex {
  /** Passes all further input to `onChunk`; nothing can be read from the stream afterwards. */
  takeOver(observer: BufferPressureObserver, onChunk: OnChunk): void;
  /** Sends small writes at once. */
  setNoDelay(isImmediate: boolean): unknown;
}

/** Next read buffer of a socket, and the receiver of chunks, which returns whether to continue reading. */
export class ReadState {
  readonly #buffers = new ReadBufferPool();
  pass: (chunk: Buffer, retain: RetainBuffer) => boolean = () => true;
  #next = this.#buffers.acquire();

  /** Option of a socket of node:net that reads into the memory. */
  readonly onread: OnReadOpts = {
    buffer: () => this.memory,
    callback: (length) => this.receive(length),
  };

  /** Memory for the next read. */
  get memory(): Buffer {
    return this.#next.memory;
  }

  /** Passes on what was read into the memory. Returns whether to continue reading. */
  receive(length: number): boolean {
    const {memory, retain} = this.#next;
    const continueReading = this.pass(memory.subarray(0, length), retain);
    if (this.#next.isRetained) this.#next = this.#buffers.acquire();
    return continueReading;
  }

  /** Implements {@link ReusingSocket.takeOver}. */
  takeOver(socket: Duplex, observer: BufferPressureObserver, onChunk: OnChunk): void {
    this.#buffers.observer = observer;
    this.pass = (chunk, retain) => {
      onChunk(chunk, retain);
      return true;
    };
    const early = socket.read() as Buffer | null;
    if (early !== null) onChunk(early, () => () => undefined);
    socket.resume();
  }
}
