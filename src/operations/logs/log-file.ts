import {constants} from 'node:fs';
import {open, type FileHandle} from 'node:fs/promises';
import {SystemError} from '../../base/errors.js';

const UNZIPPED_CHUNK = 64 * 1024;

/** Where /dev/null, which is a log without lines, is among the devices. */
const NULL_DEVICE = 0x103;

/** A log file that is open for reading, plain or gzipped. */
export interface LogFile extends AsyncDisposable {
  readonly path: string;
  readonly inode: number;
  /** Reads what follows into the buffer from `at` on; 0 at the end, where a plain file may still grow. */
  read(into: Buffer, at: number): Promise<number>;
}

/**
 * Opens a log for reading; each read rejects with the signal's reason once it is aborted. What a path leads to is the
 * runtime's word: a pipe, which could be waited at for ever, a disk and other devices are refused.
 */
export async function openLog(path: string, signal?: AbortSignal): Promise<LogFile> {
  return path.endsWith('.gz')
    ? await GzippedLogFile.open(path, signal)
    : await PlainLogFile.open(path, signal);
}

/** A log file as the runtime writes it: it can be read from anywhere, and may grow. */
export class PlainLogFile implements LogFile {
  readonly path: string;
  readonly inode: number;
  readonly #handle: FileHandle;
  readonly #signal: AbortSignal | undefined;
  #position = 0;

  private constructor(path: string, {inode, handle}: OpenFile, signal: AbortSignal | undefined) {
    this.path = path;
    this.inode = inode;
    this.#handle = handle;
    this.#signal = signal;
  }

  static async open(path: string, signal?: AbortSignal): Promise<PlainLogFile> {
    return new PlainLogFile(path, await openChecked(path), signal);
  }

  /** Goes on reading from this byte. */
  seek(position: number): void {
    this.#position = position;
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  async read(into: Buffer, at: number): Promise<number> {
    const count = await this.readAt(into.subarray(at), this.#position);
    this.#position += count;
    return count;
  }

  /** Fills the buffer from a place of the file, as far as the file goes. */
  async readAt(into: Buffer, position: number): Promise<number> {
    this.#signal?.throwIfAborted();
    return (await this.#handle.read(into, 0, into.length, position)).bytesRead;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** A rotated log that was gzipped: it is read from its start on, and is finished. */
class GzippedLogFile implements LogFile {
  readonly path: string;
  readonly inode: number;
  readonly #handle: FileHandle;
  readonly #signal: AbortSignal | undefined;
  #chunks: AsyncGenerator<Buffer> | undefined;
  #chunk: Buffer = Buffer.alloc(0);

  private constructor(path: string, {inode, handle}: OpenFile, signal: AbortSignal | undefined) {
    this.path = path;
    this.inode = inode;
    this.#handle = handle;
    this.#signal = signal;
  }

  static async open(path: string, signal?: AbortSignal): Promise<GzippedLogFile> {
    return new GzippedLogFile(path, await openChecked(path), signal);
  }

  async read(into: Buffer, at: number): Promise<number> {
    this.#signal?.throwIfAborted();
    this.#chunks ??= unzipped(this.#handle);
    while (this.#chunk.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return 0;
      this.#chunk = next.value;
    }
    const count = this.#chunk.copy(into, at);
    this.#chunk = this.#chunk.subarray(count);
    return count;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks?.return(undefined);
    await this.#handle.close();
  }
}

async function* unzipped(handle: FileHandle): AsyncGenerator<Buffer> {
  const [{createGunzip}, {pipeline}] = await Promise.all([
    import('node:zlib'),
    import('node:stream/promises'),
  ]);
  const gunzip = createGunzip({chunkSize: UNZIPPED_CHUNK});
  // What it rejects with comes out of the iteration as well.
  const piping = pipeline(handle.createReadStream({autoClose: false}), gunzip).catch(() => undefined);
  yield* gunzip as AsyncIterable<Buffer>;
  await piping;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: number;
}

async function openChecked(path: string): Promise<OpenFile> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  const isDevice = stats.isBlockDevice() || (stats.isCharacterDevice() && stats.rdev !== NULL_DEVICE);
  if (!stats.isFIFO() && !isDevice) return {handle, inode: stats.ino};
  await handle.close();
  throw new SystemError(`the log "${path}" is not a regular file`, {
    hint: 'the runtime names another file as the log; see "logPath" in "kcri inspect"',
  });
}
