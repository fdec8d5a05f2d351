import type {Bun, BunConnection} from '../bun.js';
import {BufferedSocket} from './buffered-socket.js';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/** A Unix socket of Bun's own API, which writes what the kernel accepts and leaves the rest to the caller. */
export class BunSocket extends BufferedSocket implements UnixSocket {
  readonly #handlers: SocketHandlers;
  #connection: BunConnection | undefined;
  #isReferenced = true;
  /** Bytes of the last write that the kernel has not accepted. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(bun: Bun, path: string, handlers: SocketHandlers) {
    super(() => {
      handlers.onDrain();
    });
    this.#handlers = handlers;
    bun
      .connect({
        unix: path,
        socket: {
          open: (connection) => {
            this.#onOpen(connection);
          },
          data: (_, chunk) => {
            if (!this.isClosed) handlers.onRead(chunk);
          },
          drain: () => {
            if (this.#sendBytes(this.#rest) === 0) this.onSent();
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
    if (this.isClosed) {
      connection.terminate();
      return;
    }
    if (!this.#isReferenced) connection.unref();
    this.#handlers.onConnect();
    this.open();
  }

  /** Bun calls `close` within `terminate`. */
  #onLost(error?: Error): void {
    if (!this.isClosed) this.#handlers.onLost(error);
  }

  protected override send(chunks: readonly Buffer[]): number {
    const [first, second] = chunks;
    return this.#sendBytes(first !== undefined && second === undefined ? first : Buffer.concat(chunks));
  }

  /** Returns the number of bytes that the kernel did not accept; Bun calls `drain` when it accepts more. */
  #sendBytes(bytes: Buffer): number {
    if (this.#connection === undefined || bytes.length === 0 || this.isClosed) return 0;
    // Negative after the end of the connection, which `close` reports.
    this.#rest = bytes.subarray(Math.max(0, this.#connection.write(bytes)));
    return this.#rest.length;
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
    this.close();
    this.#connection?.terminate();
  }
}
