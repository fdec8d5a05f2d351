import {constants} from 'node:fs';
import {link, lstat, open, readdir, rename, unlink, type FileHandle} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';
import {hasErrno, SystemError} from '../../../base/errors.js';
import {fdPath, openDirectory} from '../../../base/fs/file-handles.js';
import {fileError, ifPresent} from '../../../base/fs/files.js';
import {compressedName, temporaryName} from './compute-log-rotation.js';

const READ_LOG = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MODE_BITS = 0o777;
const CHUNK_BYTES = 64 * 1024;

/**
 * Log directory of one container, held open, so that all operations affect the opened directory even if its path is
 * replaced. Since a pod may have the log directory as volume, links are not followed and only regular files count as
 * logs. Methods reject with SystemError.
 */
export class LogDirectory implements AsyncDisposable {
  readonly #directory: FileHandle;
  /** Path for error messages. */
  readonly #path: string;

  private constructor(directory: FileHandle, path: string) {
    this.#directory = directory;
    this.#path = path;
  }

  /** Opens `<podLogsDir>/<pod>/<container>`; undefined if it does not exist. */
  static async open(podLogsDir: string, pod: string, container: string): Promise<LogDirectory | undefined> {
    const path = `${podLogsDir}/${pod}`;
    const podDirectory = await openDirectory(path, path);
    if (podDirectory === undefined) return undefined;
    const full = `${path}/${container}`;
    try {
      const directory = await openDirectory(`${fdPath(podDirectory)}/${container}`, full);
      return directory && new LogDirectory(directory, full);
    } finally {
      await podDirectory.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#directory.close();
  }

  /** Returns the size of a log in bytes; undefined if it does not exist. */
  async sizeOf(name: string): Promise<number | undefined> {
    const found = await this.#do('reading', name, (path) => ifPresent(() => lstat(path)));
    if (found === undefined) return undefined;
    if (!found.isFile()) throw new SystemError(`the log ${this.#show(name)} is not a regular file`);
    return found.size;
  }

  /** Returns the names of all regular files. */
  async fileNames(): Promise<readonly string[]> {
    const entries = await this.#do('reading', '.', (path) => readdir(path, {withFileTypes: true}));
    return entries.filter((entry) => entry.isFile()).map(({name}) => name);
  }

  /** Removes a file, if it exists. */
  async remove(name: string): Promise<void> {
    await this.#do('removing', name, (path) => ifPresent(() => unlink(path)));
  }

  /**
   * Renames a log to its rotated name. Rejects if there is such a file, compressed or not, from an earlier rotation.
   */
  async renameRotated(log: string, rotated: string): Promise<void> {
    for (const name of [rotated, compressedName(rotated)])
      if ((await this.sizeOf(name)) !== undefined)
        throw new SystemError(`the log ${this.#show(name)} already exists`);
    await this.#do('renaming', log, (path) => rename(path, this.#at(rotated)));
  }

  /** Reverts renameRotated, unless a log of the old name exists again; then both files stay. */
  async undoRename(log: string, rotated: string): Promise<void> {
    await this.#do('renaming', rotated, async (path) => {
      try {
        await link(path, this.#at(log));
      } catch (error) {
        if (hasErrno(error, 'EEXIST')) return;
        throw error;
      }
      await unlink(path);
    });
  }

  /** Replaces a file by its compressed form. The file is unchanged if that fails. */
  async compress(name: string): Promise<void> {
    const temporary = this.#at(temporaryName(name));
    await this.#do('compressing', name, async (path) => {
      const source = await open(path, READ_LOG);
      try {
        await writeCompressed(source, temporary);
        await rename(temporary, this.#at(compressedName(name)));
      } catch (error) {
        await ifPresent(() => unlink(temporary));
        throw error;
      } finally {
        await source.close();
      }
      await unlink(path);
    });
  }

  #at(name: string): string {
    return `${fdPath(this.#directory)}/${name}`;
  }

  #show(name: string): string {
    return JSON.stringify(`${this.#path}/${name}`);
  }

  async #do<T>(doing: string, name: string, act: (path: string) => Promise<T>): Promise<T> {
    try {
      return await act(this.#at(name));
    } catch (error) {
      throw fileError(doing, `${this.#path}/${name}`, error);
    }
  }
}

/** Compresses a file with the same permissions. */
async function writeCompressed(source: FileHandle, path: string): Promise<void> {
  const found = await source.stat();
  if (!found.isFile()) throw new SystemError('not a regular file');
  const target = await open(path, 'wx', found.mode & MODE_BITS);
  try {
    await target.chmod(found.mode & MODE_BITS);
    await pipeline(readChunks(source), createGzip(), async (compressed: AsyncIterable<Buffer>) => {
      for await (const chunk of compressed) await target.writeFile(chunk);
    });
  } finally {
    await target.close();
  }
}

async function* readChunks(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const {buffer, bytesRead} = await file.read(Buffer.allocUnsafe(CHUNK_BYTES));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
