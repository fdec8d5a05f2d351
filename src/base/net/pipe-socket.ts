import {BufferedSocket} from './buffered-socket.js';
import {END_OF_FILE, type PipeHandle, type SocketBinding} from './socket-binding.js';
import {socketError} from './socket-error.js';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/** Size of the read buffer. */
const READ_BYTES = 64 * 1024;
/** Longest path of a socket in bytes (unix(7)). */
const LONGEST_PATH = 107;
/** Number of EINVAL. */
const INVALID_ARGUMENT = -22;

/** A Unix socket without node:net, with the same errors. */
export class PipeSocket extends BufferedSocket implements UnixSocket {
  readonly #binding: SocketBinding;
  readonly #handlers: SocketHandlers;
  readonly #pipe: PipeHandle;
  /** One read buffer is reused: allocating one per read costs more than copying the bytes that are retained. */
  readonly #input = Buffer.allocUnsafeSlow(READ_BYTES);
  #isConnected = false;
  #reads = true;

  constructor(binding: SocketBinding, path: string, handlers: SocketHandlers) {
    super(() => {
      handlers.onDrain();
    });
    this.#binding = binding;
    this.#handlers = handlers;
    this.#pipe = binding.openPipe();
    this.#pipe.useUserBuffer(this.#input);
    this.#pipe.onread = () => {
      this.#onRead(binding.lastRead());
      return undefined;
    };
    this.#connect(path);
  }

  #connect(path: string): void {
    const request = this.#binding.pipeConnectRequest();
    request.oncomplete = (status) => {
      if (status < 0) this.#lose('connect', status, path);
      else this.#onConnect();
    };
    // libuv would connect to the socket at the beginning of a path that is too long.
    // A character takes at most three bytes; Node.js compiles what counts them.
    const isTooLong = path.length * 3 > LONGEST_PATH && Buffer.byteLength(path) > LONGEST_PATH;
    this.#check('connect', isTooLong ? INVALID_ARGUMENT : this.#pipe.connect(request, path), path);
  }

  #onConnect(): void {
    if (this.isClosed) return;
    this.#isConnected = true;
    this.#handlers.onConnect();
    if (this.#reads) this.resumeReading();
    this.open();
  }

  #onRead(length: number): void {
    if (this.isClosed || length === 0) return;
    if (length > 0) this.#handlers.onRead(this.#input.subarray(0, length));
    else this.#lose('read', length);
  }

  /** Returns the number of bytes that the kernel did not accept, which libuv sends. */
  protected override send(chunks: readonly Buffer[]): number {
    const request = this.#binding.writeRequest();
    request.oncomplete = (status) => {
      if (status < 0) this.#lose('write', status);
      else this.onSent();
    };
    // The chunks must stay in memory until they are sent.
    request.chunks = chunks;
    this.#check('write', this.#pipe.writev(request, chunks, true));
    return this.#binding.pendingWrite();
  }

  /** Reports a call that failed at once, as one that fails later. */
  #check(syscall: string, status: number, path?: string): void {
    if (status < 0)
      setImmediate(() => {
        this.#lose(syscall, status, path);
      });
  }

  #lose(syscall: string, status: number, path?: string): void {
    if (this.isClosed) return;
    this.destroy();
    this.#handlers.onLost(status === END_OF_FILE ? undefined : socketError(syscall, status, {address: path}));
  }

  stopReading(): void {
    this.#reads = false;
    if (this.#isConnected && !this.isClosed) this.#pipe.readStop();
  }

  resumeReading(): void {
    this.#reads = true;
    if (this.#isConnected && !this.isClosed) this.#pipe.readStart();
  }

  ref(): void {
    if (!this.isClosed) this.#pipe.ref();
  }

  unref(): void {
    if (!this.isClosed) this.#pipe.unref();
  }

  destroy(): void {
    if (this.isClosed) return;
    this.close();
    this.#pipe.close();
  }
}
