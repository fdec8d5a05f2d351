import type {ConnectOpts, SocketConstructorOpts} from 'node:net';
import {ReadState, type OnChunk, type ReusingSocket} from './read-state.js';
import type {BufferPressureObserver} from './read-buffer-pool.js';
import {WriteTolerantSocket} from './write-tolerant-socket.js';

/** Write-tolerant socket of node:net that reuses its read buffers. */
export class BufferReusingSocket extends WriteTolerantSocket implements ReusingSocket {
  readonly #state: ReadState;

  constructor() {
    const state = new ReadState();
    // The type definitions allow `onread` only for `connect`.
    const options: SocketConstructorOpts & ConnectOpts = {onread: state.onread};
    super(options);
    this.#state = state;
    state.pass = (chunk) => this.push(Buffer.from(chunk));
  }

  takeOver(observer: BufferPressureObserver, onChunk: OnChunk): void {
    this.#state.takeOver(this, observer, onChunk);
  }
}
