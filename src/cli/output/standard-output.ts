import {constants, fstatSync, openSync, writeSync, type Stats} from 'node:fs';
import {getBun, type BunWriter} from '../../base/bun.js';

/** Part of a Writable that commands use. */
export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly writableNeedDrain: boolean;
  write(chunk: string | Uint8Array, done?: Done): boolean;
  on(event: 'error' | 'resize', listener: (error: Error) => void): unknown;
  removeListener(event: 'resize', listener: () => void): unknown;
  removeAllListeners(event: 'error'): unknown;
  destroy(): unknown;
}

type Done = (error?: Error | null) => void;

/**
 * Opens standard output or error of this process. Files and devices other than terminals bypass the streams of Node.js
 * and Bun, which take longer to open than a command runs. Pipes stay asynchronous, because a stalled reader would block
 * the process; Bun's own writer is asynchronous too.
 */
export function openStandardOutput(fd: 1 | 2): OutputStream {
  const file = fstatSync(fd);
  if (neverWaits(fd, file)) return new FileOutput(fd);
  const bun = getBun();
  if (bun !== undefined && (file.isFIFO() || file.isSocket()))
    return new SinkOutput(bun.file(file.isFIFO() ? ownPipe(fd) : fd).writer());
  return fd === 1 ? process.stdout : process.stderr;
}

/** Major device number of /dev/null, /dev/full and similar devices. */
const MEMORY_DEVICES = 1;

/** Reports whether writes never block. Loads node:tty for a character device only: that takes Bun 3 ms. */
function neverWaits(fd: number, file: Stats): boolean {
  const isatty = (tty: number): boolean => process.getBuiltinModule('node:tty').isatty(tty);
  return file.isFile() || (file.isCharacterDevice() && (file.rdev >> 8 === MEMORY_DEVICES || !isatty(fd)));
}

/**
 * Returns a file descriptor of the pipe, reopened if possible: the non-blocking mode then applies to this process only,
 * and other processes that share the pipe cannot change it.
 */
function ownPipe(fd: number): number {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return fd; // The pipe has no reader or belongs to another user, or /proc is missing.
  }
}

/** Stream that writes synchronously and calls back later like a Writable, which takes longer to load than help. */
class FileOutput implements OutputStream {
  readonly writableNeedDrain = false;
  readonly #fd: number;
  readonly #onError = new Set<(error: Error) => void>();
  #failure: Error | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  on(event: 'error' | 'resize', listener: (error: Error) => void): void {
    if (event === 'error') this.#onError.add(listener);
  }

  removeListener(): void {
    // A file has no size that changes.
  }

  removeAllListeners(): void {
    this.#onError.clear();
  }

  write(chunk: string | Uint8Array, done?: Done): boolean {
    // Output after lost output is dropped.
    const isFirstLoss = this.#failure === undefined && !this.#wrote(chunk);
    const failure = this.#failure;
    process.nextTick(() => {
      done?.(failure);
      if (isFirstLoss && failure !== undefined) for (const onError of this.#onError) onError(failure);
    });
    return true;
  }

  #wrote(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      this.#failure = error as Error;
    }
    return this.#failure === undefined;
  }

  destroy(): void {
    // Nothing is buffered.
  }
}

/** Size of pending output above which producers should wait, as in Node.js. */
const FULL_BYTES = 64 * 1024;

/** Stream over Bun's file writer, which calls back like a Writable; that takes a tenth of a short command to load. */
class SinkOutput implements OutputStream {
  readonly #sink: BunWriter;
  readonly #onError = new Set<(error: Error) => void>();
  #pendingBytes = 0;
  #last: Promise<void> = Promise.resolve();
  #failure: Error | undefined;

  constructor(sink: BunWriter) {
    this.#sink = sink;
  }

  get writableNeedDrain(): boolean {
    return this.#pendingBytes >= FULL_BYTES;
  }

  on(event: 'error' | 'resize', listener: (error: Error) => void): void {
    if (event === 'error') this.#onError.add(listener);
  }

  removeListener(): void {
    // A pipe has no size that changes.
  }

  removeAllListeners(): void {
    this.#onError.clear();
  }

  write(chunk: string | Uint8Array, done?: Done): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    this.#pendingBytes += bytes.length;
    this.#last = this.#last.then(async () => {
      await this.#send(bytes);
      this.#pendingBytes -= bytes.length;
      done?.(this.#failure);
    });
    return !this.writableNeedDrain;
  }

  /** Output after lost output is dropped. */
  async #send(bytes: Uint8Array): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      const taken = this.#sink.write(bytes);
      await (typeof taken === 'number' ? this.#sink.flush() : taken);
    } catch (error) {
      this.#failure = error as Error;
      for (const onError of this.#onError) onError(this.#failure);
    }
  }

  /** Lets the process end although output is pending. */
  destroy(): void {
    this.#sink.unref();
  }
}
