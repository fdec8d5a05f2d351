import {constants} from 'node:fs';
import {open, type FileHandle} from 'node:fs/promises';
import {SystemError} from '../../base/errors.js';

const UNZIPPED_CHUNK = 64 * 1024;

/** A log file that is open for reading, plain or gzipped. */
export interface LogFile extends AsyncDisposable {
  readonly path: string;
  readonly inode: number;
  /** Reads what follows into the buffer from `at` on; 0 at the end, where a plain file may still grow. */
  read(into: Buffer, at: number): Promise<number>;
}

/**
 * Opens a log for reading. What a path leads to is the runtime's word: a pipe, which could be waited at for ever, and
 * a disk are refused.
 */
export async function openLog(path: string): Promise<LogFile> {
  return path.endsWith('.gz') ? await GzippedLogFile.open(path) : await PlainLogFile.open(path);
}

/** A log file as the runtime writes it: it can be read from anywhere, and may grow. */
export class PlainLogFile implements LogFile {
  readonly path: string;
  readonly inode: number;
  readonly #handle: FileHandle;
  #position = 0;

  private constructor(path: string, inode: number, handle: FileHandle) {
    this.path = path;
    this.inode = inode;
    this.#handle = handle;
  }

  static async open(path: string): Promise<PlainLogFile> {
    const {handle, inode} = await openChecked(path);
    return new PlainLogFile(path, inode, handle);
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
  #chunks: AsyncGenerator<Buffer> | undefined;
  #chunk: Buffer = Buffer.alloc(0);

  private constructor(path: string, inode: number, handle: FileHandle) {
    this.path = path;
    this.inode = inode;
    this.#handle = handle;
  }

  static async open(path: string): Promise<GzippedLogFile> {
    const {handle, inode} = await openChecked(path);
    return new GzippedLogFile(path, inode, handle);
  }

  async read(into: Buffer, at: number): Promise<number> {
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

async function openChecked(path: string): Promise<{handle: FileHandle; inode: number}> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFIFO() && !stats.isBlockDevice()) return {handle, inode: stats.ino};
  await handle.close();
  throw new SystemError(`the log "${path}" is not a regular file`, {
    hint: 'the runtime names another file as the log; see "logPath" in "kcri inspect"',
  });
}
