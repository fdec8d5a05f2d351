import {constants} from 'node:fs';
import {link, lstat, open, readdir, rename, unlink, type FileHandle} from 'node:fs/promises';
import {pipeline} from 'node:stream/promises';
import {createGzip} from 'node:zlib';
import {hasErrno, SystemError} from '../../base/errors.js';
import {fdPath, openDirectory} from '../../base/file-handles.js';
import {fileError, ifPresent} from '../../base/files.js';
import {compressedName, temporaryName} from './plan-rotation.js';

const READ_LOG = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MODE_BITS = 0o777;
const PIECE_BYTES = 64 * 1024;

/**
 * The log directory of one container, held open: whatever is put in its place, everything is done in the one that was
 * opened. A pod with a volume in the node's log directory can write there: no link in it is followed, and what is no
 * regular file is no log. Methods reject with SystemError.
 */
export class LogDirectory implements AsyncDisposable {
  readonly #directory: FileHandle;
  /** For messages. */
  readonly #path: string;

  private constructor(directory: FileHandle, path: string) {
    this.#directory = directory;
    this.#path = path;
  }

  /** Opens `<podLogsDir>/<pod>/<container>`; undefined when it isn't there. */
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

  /** How long a log is; undefined when it isn't there. */
  async sizeOf(name: string): Promise<number | undefined> {
    const found = await this.#do('reading', name, (path) => ifPresent(() => lstat(path)));
    if (found === undefined) return undefined;
    if (!found.isFile()) throw new SystemError(`the log ${this.#show(name)} is not a regular file`);
    return found.size;
  }

  /** The names of all regular files. */
  async fileNames(): Promise<readonly string[]> {
    const entries = await this.#do('reading', '.', (path) => readdir(path, {withFileTypes: true}));
    return entries.filter((entry) => entry.isFile()).map(({name}) => name);
  }

  async remove(name: string): Promise<void> {
    await this.#do('removing', name, (path) => ifPresent(() => unlink(path)));
  }

  /**
   * Renames a log at once, so that readers find it under one name. Nobody else makes files of the new name; one of an
   * earlier rotation is not replaced, and neither would the two be told apart if it was compressed.
   */
  async putAway(log: string, rotated: string): Promise<void> {
    for (const name of [rotated, compressedName(rotated)])
      if ((await this.sizeOf(name)) !== undefined)
        throw new SystemError(`there is a log ${this.#show(name)} already`);
    await this.#do('renaming', log, (path) => rename(path, this.#at(rotated)));
  }

  /** Undoes putAway, unless there is a log of the old name again: that one stays, and so does the other. */
  async takeBack(log: string, rotated: string): Promise<void> {
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

  /** Replaces a file by its compressed form. When it fails the file is as it was. */
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

/** With the rights of the file itself. */
async function writeCompressed(source: FileHandle, path: string): Promise<void> {
  const found = await source.stat();
  if (!found.isFile()) throw new SystemError('it is not a regular file');
  const target = await open(path, 'wx', found.mode & MODE_BITS);
  try {
    await target.chmod(found.mode & MODE_BITS);
    await pipeline(piecesOf(source), createGzip(), async (compressed: AsyncIterable<Buffer>) => {
      for await (const piece of compressed) await target.writeFile(piece);
    });
  } finally {
    await target.close();
  }
}

async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const {buffer, bytesRead} = await file.read(Buffer.allocUnsafe(PIECE_BYTES));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}
