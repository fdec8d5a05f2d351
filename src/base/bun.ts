import type {ReadableStream} from 'node:stream/web';

/** The part of Bun's global API that kcri uses. */
export interface Bun {
  file(fd: number): {stream(): ReadableStream; writer(): BunWriter};
  /** Connects to a Unix socket. Rejects if that fails. */
  connect(options: {readonly unix: string; readonly socket: BunConnectionHandlers}): Promise<unknown>;
}

/** Handles the events of a connection of Bun. */
export interface BunConnectionHandlers {
  open(connection: BunConnection): void;
  data(connection: BunConnection, chunk: Buffer): void;
  drain(connection: BunConnection): void;
  /** The peer has closed its side. */
  end(connection: BunConnection): void;
  close(connection: BunConnection, error?: Error): void;
  error(connection: BunConnection, error: Error): void;
}

/** A connection of Bun. */
export interface BunConnection {
  /** Returns the number of bytes that the kernel took, negative once the connection has ended. */
  write(bytes: Uint8Array): number;
  /** Stops reading, until `resume`. */
  pause(): void;
  resume(): void;
  ref(): void;
  unref(): void;
  /** Closes the connection at once. */
  terminate(): void;
}

/** Bun's buffered writer. Its methods return a promise while data is still pending. */
export interface BunWriter {
  write(chunk: Uint8Array): number | Promise<number>;
  flush(): number | Promise<number>;
  unref(): void;
}

/** Returns Bun's global API, or undefined on Node.js. */
export function getBun(): Bun | undefined {
  return (globalThis as {readonly Bun?: Bun}).Bun;
}
