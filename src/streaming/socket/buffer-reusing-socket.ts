import type {ConnectOpts, SocketConstructorOpts} from 'node:net';
import {ReadBufferPool, type BufferPressureObserver, type RetainBuffer} from './read-buffer-pool.js';
import {WriteTolerantSocket} from './write-tolerant-socket.js';

/** Receiver of chunks. The memory of a chunk is reused after this returns, unless it is retained. */
export type OnChunk = (chunk: Buffer, retain: RetainBuffer) => void;

/**
 * Write-tolerant socket that reuses a few read buffers: allocating and collecting a buffer per read takes a third of
 * the CPU time of long transfers. It is an ordinary stream until `takeOver`.
 */
export class BufferReusingSocket extends WriteTolerantSocket {
  readonly #readState: ReadState;

  constructor() {
    const reads = new ReadState();
    super(reads.options);
    this.#readState = reads;
    reads.pass = (chunk) => this.push(Buffer.from(chunk));
  }

  /** Passes all further input to `onChunk`; nothing can be read from the stream afterwards. */
  takeOver(observer: BufferPressureObserver, onChunk: OnChunk): void {
    this.#readState.buffers.observer = observer;
    this.#readState.pass = (chunk, retain) => {
      onChunk(chunk, retain);
      return true;
    };
    const early = this.read() as Buffer | null;
    if (early !== null) onChunk(early, () => () => undefined);
    this.resume();
  }
}

/** Next read buffer and the receiver of chunks, which returns whether to continue reading. */
class ReadState {
  readonly buffers = new ReadBufferPool();
  pass: (chunk: Buffer, retain: RetainBuffer) => boolean = () => true;
  #next = this.buffers.acquire();

  /** Options for the constructor; the type definitions allow `onread` only for `connect`. */
  readonly options: SocketConstructorOpts & ConnectOpts = {
    onread: {
      buffer: () => this.#next.memory,
      callback: (length) => {
        const {memory, retain} = this.#next;
        const continueReading = this.pass(memory.subarray(0, length), retain);
        if (this.#next.isRetained) this.#next = this.buffers.acquire();
        return continueReading;
      },
    },
  };
}
