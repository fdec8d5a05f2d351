import type {OnReadOpts, Socket} from 'node:net';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/** Size of the read buffer. */
const READ_BYTES = 64 * 1024;

/** A Unix socket of node:net. */
export class NodeSocket implements UnixSocket {
  readonly #socket: Socket;
  #reads = true;

  constructor(path: string, handlers: SocketHandlers) {
    // A static import would load the module in Bun.
    const {connect} = process.getBuiltinModule('node:net');
    this.#socket = connect({path, onread: readInto(handlers, () => this.#reads)});
    this.#socket.on('connect', () => {
      handlers.onConnect();
    });
    this.#socket.on('drain', () => {
      handlers.onDrain();
    });
    this.#socket.on('error', (error) => {
      handlers.onLost(error);
    });
    this.#socket.on('end', () => {
      handlers.onLost();
    });
    this.#socket.on('close', () => {
      handlers.onLost();
    });
  }

  get needsDrain(): boolean {
    return this.#socket.writableNeedDrain;
  }

  get hasUnsent(): boolean {
    return this.#socket.writableLength > 0;
  }

  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  stopReading(): void {
    this.#reads = false;
    this.#socket.pause();
  }

  resumeReading(): void {
    this.#reads = true;
    this.#socket.resume();
  }

  ref(): void {
    this.#socket.ref();
  }

  unref(): void {
    this.#socket.unref();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** Reuses one read buffer: allocating one per read costs more than copying the bytes that are retained. */
function readInto(handlers: SocketHandlers, continues: () => boolean): OnReadOpts {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const callback = (length: number): boolean => {
    handlers.onRead(buffer.subarray(0, length));
    return continues();
  };
  return {buffer, callback};
}
