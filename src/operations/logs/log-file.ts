import {constants} from 'node:fs';
import {open, type FileHandle} from 'node:fs/promises';
import {SystemError} from '../../base/errors.js';

const GUNZIP_CHUNK_BYTES = 64 * 1024;

/** Device number of /dev/null, which is accepted as an empty log. */
const NULL_DEVICE = 0x103;

/** A plain or gzipped log file open for reading. */
export interface LogFile extends AsyncDisposable {
  readonly path: string;
  readonly inode: number;
  /**
   * Reads the next bytes into the buffer from offset `at`. Resolves with 0 at the end, although a plain file may
   * still grow.
   */
  read(into: Buffer, at: number): Promise<number>;
}

/**
 * Opens a log for reading. Each read rejects with the signal's reason after an abort. Since the path comes from the
 * runtime, pipes (which could block forever), disks and other devices are rejected with SystemError.
 */
export async function openLog(path: string, signal?: AbortSignal): Promise<LogFile> {
  return path.endsWith('.gz')
    ? await GzippedLogFile.open(path, signal)
    : await PlainLogFile.open(path, signal);
}

/** A log file as written by the runtime. Can be read from any offset, and may grow. */
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

  /** Continues reading at this offset. */
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

  /** Fills the buffer from an offset of the file, up to its end. */
  async readAt(into: Buffer, position: number): Promise<number> {
    this.#signal?.throwIfAborted();
    return (await this.#handle.read(into, 0, into.length, position)).bytesRead;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** A gzipped rotated log. Is read from its start and does not grow. */
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
  const gunzip = createGunzip({chunkSize: GUNZIP_CHUNK_BYTES});
  // Its error is also thrown by the iteration.
  const piping = pipeline(handle.createReadStream({autoClose: false}), gunzip).catch(() => undefined);
  yield* gunzip as AsyncIterable<Buffer>;
  await piping;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly inode: number;
}

/** Checks that a log can be opened. Rejects with the system's error, and with SystemError for a pipe or device. */
export async function checkLogFile(path: string): Promise<void> {
  const {handle} = await openChecked(path);
  await handle.close();
}

async function openChecked(path: string): Promise<OpenFile> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  const isDevice = stats.isBlockDevice() || (stats.isCharacterDevice() && stats.rdev !== NULL_DEVICE);
  if (!stats.isFIFO() && !isDevice) return {handle, inode: stats.ino};
  await handle.close();
  throw new SystemError(`the log "${path}" is not a regular file`, {
    hint: 'the path comes from the runtime; see "logPath" in "kcri inspect"',
  });
}
