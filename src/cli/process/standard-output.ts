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

/** Stream of a file or pipe, which has no size. Its writes call back as those of a Writable, which takes longer to load. */
abstract class BareOutput implements OutputStream {
  readonly #onError = new Set<(error: Error) => void>();
  /** Error of the first write that failed; output after it is dropped. */
  protected failure: Error | undefined;

  abstract readonly writableNeedDrain: boolean;
  abstract write(chunk: string | Uint8Array, done?: Done): boolean;
  abstract destroy(): void;

  on(event: 'error' | 'resize', listener: (error: Error) => void): void {
    if (event === 'error') this.#onError.add(listener);
  }

  removeListener(): void {
    // The size never changes.
  }

  removeAllListeners(): void {
    this.#onError.clear();
  }

  protected reportFailure(error: Error): void {
    for (const onError of this.#onError) onError(error);
  }
}

/** Stream that writes synchronously and calls back later. */
class FileOutput extends BareOutput {
  override readonly writableNeedDrain = false;
  readonly #fd: number;

  constructor(fd: number) {
    super();
    this.#fd = fd;
  }

  override write(chunk: string | Uint8Array, done?: Done): boolean {
    const isFirstLoss = this.failure === undefined && !this.#wrote(chunk);
    const {failure} = this;
    process.nextTick(() => {
      done?.(failure);
      if (isFirstLoss && failure !== undefined) this.reportFailure(failure);
    });
    return true;
  }

  #wrote(chunk: string | Uint8Array): boolean {
    const bytes = toBytes(chunk);
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      this.failure = error as Error;
    }
    return this.failure === undefined;
  }

  override destroy(): void {
    // Nothing is buffered.
  }
}

/** Size of pending output above which producers should wait, as in Node.js. */
const FULL_BYTES = 64 * 1024;

/** Stream over Bun's file writer. */
class SinkOutput extends BareOutput {
  readonly #sink: BunWriter;
  #pendingBytes = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(sink: BunWriter) {
    super();
    this.#sink = sink;
  }

  override get writableNeedDrain(): boolean {
    return this.#pendingBytes >= FULL_BYTES;
  }

  override write(chunk: string | Uint8Array, done?: Done): boolean {
    const bytes = toBytes(chunk);
    this.#pendingBytes += bytes.length;
    this.#last = this.#last.then(async () => {
      await this.#send(bytes);
      this.#pendingBytes -= bytes.length;
      done?.(this.failure);
    });
    return !this.writableNeedDrain;
  }

  async #send(bytes: Uint8Array): Promise<void> {
    if (this.failure !== undefined) return;
    try {
      const taken = this.#sink.write(bytes);
      await (typeof taken === 'number' ? this.#sink.flush() : taken);
    } catch (error) {
      this.failure = error as Error;
      this.reportFailure(this.failure);
    }
  }

  /** Lets the process end although output is pending. */
  override destroy(): void {
    this.#sink.unref();
  }
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
}
