import {constants, fstatSync, openSync, writeSync, type Stats} from 'node:fs';
import {getBun, type BunWriter} from '../../base/bun.js';
import {hasErrno} from '../../base/errors.js';

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
 * Opens standard output or error of this process. Files, pipes and devices other than terminals bypass the streams of
 * Node.js and Bun, which take longer to open than a command runs. A pipe that is full gets the rest through a stream, because
 * a stalled reader would block the process; Bun's own writer is asynchronous too.
 */
export function openStandardOutput(fd: 1 | 2): OutputStream {
  const file = fstatSync(fd);
  if (neverWaits(fd, file)) return new FileOutput(fd);
  const bun = getBun();
  const isPipe = file.isFIFO();
  if (bun !== undefined && (isPipe || file.isSocket()))
    return new SinkOutput(bun.file(isPipe ? (ownPipe(fd) ?? fd) : fd).writer());
  const own = isPipe ? ownPipe(fd) : undefined;
  return own === undefined ? streamOf(fd) : new FileOutput(own, () => streamOf(fd));
}

/** Returns the stream of Node.js. */
function streamOf(fd: 1 | 2): OutputStream {
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
 * Reopens a pipe: the non-blocking mode then applies to this process only, and other processes that share the pipe cannot
 * change it. Returns undefined if it cannot be reopened.
 */
function ownPipe(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined; // The pipe has no reader or belongs to another user, or /proc is missing.
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

/** Stream that writes synchronously and calls back later, until a pipe is full: another stream takes the rest then. */
class FileOutput extends BareOutput {
  readonly #fd: number;
  readonly #openRest: () => OutputStream;
  #rest: OutputStream | undefined;

  /** `openRest` opens the stream that waits for the reader of a full pipe. */
  constructor(fd: number, openRest: () => OutputStream = neverFull) {
    super();
    this.#fd = fd;
    this.#openRest = openRest;
  }

  override get writableNeedDrain(): boolean {
    return this.#rest?.writableNeedDrain ?? false;
  }

  override write(chunk: string | Uint8Array, done?: Done): boolean {
    if (this.#rest !== undefined) return this.#rest.write(chunk, done);
    const isFirst = this.failure === undefined;
    const bytes = toBytes(chunk);
    const written = isFirst ? this.#send(bytes) : 0;
    if (this.failure === undefined && written < bytes.length)
      return this.#follow().write(bytes.subarray(written), done);
    const {failure} = this;
    // Not by process.nextTick: Node.js would compile its queue.
    void Promise.resolve().then(() => {
      done?.(failure);
      if (isFirst && failure !== undefined) this.reportFailure(failure);
    });
    return true;
  }

  /** Returns the number of bytes that were written before an error or the end of the room. */
  #send(bytes: Uint8Array): number {
    let at = 0;
    try {
      while (at < bytes.length) at += writeSync(this.#fd, bytes, at);
    } catch (error) {
      if (!hasErrno(error, 'EAGAIN')) this.failure = error as Error;
    }
    return at;
  }

  #follow(): OutputStream {
    const rest = this.#openRest();
    rest.removeAllListeners('error');
    rest.on('error', (error) => {
      this.reportFailure(error);
    });
    this.#rest = rest;
    return rest;
  }

  override destroy(): void {
    this.#rest?.destroy();
  }
}

function neverFull(): never {
  throw new Error('a file has no room for more output');
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
