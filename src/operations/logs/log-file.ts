import {constants} from 'node:fs';
import {open, type FileHandle} from 'node:fs/promises';
import type {Readable} from 'node:stream';
import {SystemError} from '../../base/errors.js';

/** A log file that is open for reading, plain or gzipped. */
export interface LogFile extends AsyncDisposable {
  readonly path: string;
  readonly inode: number;
  /** Reads what follows into the buffer from `at` on; 0 at the end, where a plain file may still grow. */
  read(into: Buffer, at: number): Promise<number>;
}

/**
 * Opens a log for reading. What a path leads to is the runtime's word: nothing is waited for (a pipe without a
 * writer), and what is no regular file is refused.
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
    const {handle, inode} = await openRegular(path);
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
  readonly #stream: Readable;
  readonly #chunks: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);

  private constructor(path: string, inode: number, stream: Readable) {
    this.path = path;
    this.inode = inode;
    this.#stream = stream;
    this.#chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  static async open(path: string): Promise<GzippedLogFile> {
    const {createGunzip} = await import('node:zlib');
    const {handle, inode} = await openRegular(path);
    const compressed = handle.createReadStream();
    const stream = createGunzip({chunkSize: 64 * 1024});
    // An error of the file is one of the log.
    compressed.on('error', (error) => stream.destroy(error));
    stream.on('close', () => compressed.destroy());
    return new GzippedLogFile(path, inode, compressed.pipe(stream));
  }

  async read(into: Buffer, at: number): Promise<number> {
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
    this.#stream.destroy();
    await Promise.resolve();
  }
}

async function openRegular(path: string): Promise<{handle: FileHandle; inode: number}> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (stats.isFile()) return {handle, inode: stats.ino};
  await handle.close();
  throw new SystemError(`the log "${path}" is not a regular file`, {
    hint: 'the runtime names another file as the log; see "logPath" in "kcri inspect"',
  });
}
