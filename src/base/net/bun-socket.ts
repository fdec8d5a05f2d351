import type {Bun, BunConnection} from '../bun.js';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/** Size of the buffer above which nothing should be written, as in Node.js. */
const FULL_BYTES = 64 * 1024;

/** A Unix socket of Bun's own API, which writes what the kernel takes and leaves the rest to the caller. */
export class BunSocket implements UnixSocket {
  readonly #handlers: SocketHandlers;
  #connection: BunConnection | undefined;
  #isReferenced = true;
  #isCorked = false;
  #isDestroyed = false;
  /** True while the kernel's buffer is full. */
  #isBlocked = false;
  /** True if `needsDrain` has been true since the last onDrain. */
  #wasFull = false;
  #unsent: Buffer[] = [];
  #unsentBytes = 0;

  constructor(bun: Bun, path: string, handlers: SocketHandlers) {
    this.#handlers = handlers;
    bun
      .connect({
        unix: path,
        socket: {
          open: (connection) => {
            this.#onOpen(connection);
          },
          data: (_, chunk) => {
            if (!this.#isDestroyed) handlers.onRead(chunk);
          },
          drain: () => {
            this.#isBlocked = false;
            this.#flush();
          },
          end: () => {
            this.#onLost();
          },
          close: (_, error) => {
            this.#onLost(error);
          },
          error: (_, error) => {
            this.#onLost(error);
          },
        },
      })
      .catch((error: unknown) => {
        this.#onLost(error as Error);
      });
  }

  #onOpen(connection: BunConnection): void {
    this.#connection = connection;
    if (this.#isDestroyed) {
      connection.terminate();
      return;
    }
    if (!this.#isReferenced) connection.unref();
    this.#handlers.onConnect();
    this.#flush();
  }

  /** Bun calls `close` within `terminate`. */
  #onLost(error?: Error): void {
    if (!this.#isDestroyed) this.#handlers.onLost(error);
  }

  get needsDrain(): boolean {
    return this.#unsentBytes >= FULL_BYTES;
  }

  get hasUnsent(): boolean {
    return this.#unsentBytes > 0;
  }

  write(bytes: Buffer): void {
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
    this.#wasFull ||= this.needsDrain;
    this.#flush();
  }

  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    this.#flush();
  }

  #flush(): void {
    if (this.#connection === undefined || this.#isCorked || this.#isBlocked || this.#isDestroyed) return;
    if (this.#unsentBytes > 0) this.#send(this.#connection);
    if (!this.#wasFull || this.#unsentBytes > 0) return;
    this.#wasFull = false;
    // As in Node.js, not within the write.
    setImmediate(() => {
      if (!this.#isDestroyed) this.#handlers.onDrain();
    });
  }

  #send(connection: BunConnection): void {
    const [first = Buffer.alloc(0), ...others] = this.#unsent;
    const bytes = others.length === 0 ? first : Buffer.concat(this.#unsent);
    // Negative after the end of the connection, of which `close` tells.
    const rest = bytes.subarray(Math.max(0, connection.write(bytes)));
    this.#isBlocked = rest.length > 0;
    this.#unsent = this.#isBlocked ? [rest] : [];
    this.#unsentBytes = rest.length;
  }

  stopReading(): void {
    this.#connection?.pause();
  }

  resumeReading(): void {
    this.#connection?.resume();
  }

  ref(): void {
    this.#isReferenced = true;
    this.#connection?.ref();
  }

  unref(): void {
    this.#isReferenced = false;
    this.#connection?.unref();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#connection?.terminate();
  }
}
