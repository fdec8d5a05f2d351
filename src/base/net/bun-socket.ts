import type {Bun, BunConnection} from '../bun.js';
import {SendBuffer} from './send-buffer.js';
import type {SocketHandlers, UnixSocket} from './unix-socket.js';

/** A Unix socket of Bun's own API, which writes what the kernel takes and leaves the rest to the caller. */
export class BunSocket implements UnixSocket {
  readonly #handlers: SocketHandlers;
  readonly #buffer: SendBuffer;
  #connection: BunConnection | undefined;
  #isReferenced = true;
  #isDestroyed = false;
  /** What the kernel has not taken. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(bun: Bun, path: string, handlers: SocketHandlers) {
    this.#handlers = handlers;
    this.#buffer = new SendBuffer(
      ([first = this.#rest, ...others]) =>
        this.#send(others.length === 0 ? first : Buffer.concat([first, ...others])),
      () => {
        handlers.onDrain();
      },
    );
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
            if (this.#send(this.#rest) === 0) this.#buffer.onSent();
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
    this.#buffer.open();
  }

  /** Bun calls `close` within `terminate`. */
  #onLost(error?: Error): void {
    if (!this.#isDestroyed) this.#handlers.onLost(error);
  }

  get needsDrain(): boolean {
    return this.#buffer.needsDrain;
  }

  get hasUnsent(): boolean {
    return this.#buffer.hasUnsent;
  }

  write(bytes: Buffer): void {
    this.#buffer.write(bytes);
  }

  cork(): void {
    this.#buffer.cork();
  }

  uncork(): void {
    this.#buffer.uncork();
  }

  /** Returns the number of bytes that the kernel did not take, of which `drain` tells. */
  #send(bytes: Buffer): number {
    if (this.#connection === undefined || bytes.length === 0 || this.#isDestroyed) return 0;
    // Negative after the end of the connection, of which `close` tells.
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
    this.#isDestroyed = true;
    this.#buffer.close();
    this.#connection?.terminate();
  }
}
