import {open, rename, stat, unlink, type FileHandle} from 'node:fs/promises';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {hasErrno, SystemError} from '../../base/errors.js';
import {ifPresent, withFileErrors, withUserFileHints} from '../../base/fs/files.js';
import {MAX_LINE_BYTES} from '../../recording/lines/recording-header.js';

/** Maximum length of lines that wait for the disk, in bytes. Further lines are lost. */
const MAX_WAITING = MAX_LINE_BYTES;

const LINE_BREAK = Buffer.from('\n');

/** Options of a file of lines. */
export interface LineFileOptions {
  readonly path: string;
  /** Size after which a new file is begun, in bytes. */
  readonly maxBytes: number;
  /** Number of files that are kept, at least 1: the path, and older ones with `.1`, `.2` and so on. */
  readonly maxFiles: number;
  /** Returns the first line of each file. */
  readonly header: () => string;
  /** Returns a line in place of lost ones. */
  readonly formatLost: (count: number) => string;
  /** Called when a line could not be written: all further ones are lost. */
  readonly onFailure: (error: SystemError) => void;
}

/**
 * Writes lines to a file that is rotated by its size. Lines that the disk is too slow for, or that cannot be written, are
 * lost; the caller never waits.
 */
export class LineFile {
  readonly #options: LineFileOptions;
  readonly #maxBytes: number;
  #file: FileHandle;
  #size = 0;
  #waiting: Buffer[] = [];
  #waitingLength = 0;
  #lost = 0;
  #allLost = 0;
  #writing: Promise<void> | undefined;
  #failure: SystemError | undefined;
  /** True if the file has only the header. */
  #isUnused = true;

  /** `isFile` is false for a pipe or a device, which stays in its place and is not rotated. */
  private constructor(options: LineFileOptions, file: FileHandle, isFile: boolean) {
    this.#options = options;
    this.#file = file;
    this.#maxBytes = isFile ? options.maxBytes : Infinity;
  }

  /**
   * Creates the file, which only this user can read, and writes its first line. Rejects with SystemError, also if it exists and is
   * not empty, or is another user's.
   */
  static async create(options: LineFileOptions): Promise<LineFile> {
    const {path} = options;
    const existing = await ifPresent(() => stat(path));
    if (existing?.isFile() === true && existing.size > 0)
      throw new SystemError(`the file "${path}" exists and is not empty`, {
        hint: 'remove it, or record to another file',
      });
    const file = await withUserFileHints(() => withFileErrors('creating', path, () => openPrivate(path)));
    const created = new LineFile(options, file, (await file.stat()).isFile());
    created.#add(Buffer.from(options.header()));
    try {
      await created.#writeWaiting();
    } catch (error) {
      await created.discard();
      throw error;
    }
    return created;
  }

  /** Number of lines that were lost. */
  get lostLines(): number {
    return this.#allLost;
  }

  /** Adds a line, without its line break. */
  write(line: Buffer): void {
    this.#isUnused = false;
    if (this.#failure !== undefined || this.#waitingLength + line.length > MAX_WAITING) {
      this.#lost += 1;
      this.#allLost += 1;
      return;
    }
    if (this.#lost > 0) this.#addLost();
    this.#lost = 0;
    this.#add(line);
    this.#writing ??= this.#writeAll();
  }

  #addLost(): void {
    this.#add(Buffer.from(this.#options.formatLost(this.#lost)));
  }

  #add(line: Buffer): void {
    this.#waiting.push(line);
    this.#waitingLength += line.length + 1;
  }

  async #writeAll(): Promise<void> {
    try {
      // Lines of one turn are one write, which costs more than a line.
      await nextTurn();
      await this.#writeWaiting();
    } catch (error) {
      this.#failure = error as SystemError;
      this.#allLost += this.#waiting.length;
      this.#options.onFailure(this.#failure);
    }
    this.#writing = undefined;
  }

  /** Writes all lines that wait. Rejects with SystemError. */
  async #writeWaiting(): Promise<void> {
    await withUserFileHints(() =>
      withFileErrors('writing to', this.#options.path, async () => {
        while (this.#waiting.length > 0) {
          const lines = this.#waiting;
          this.#waiting = [];
          this.#waitingLength = 0;
          await this.#writeLines(lines);
        }
      }),
    );
  }

  /** Writes as many lines at once as fit into the file. */
  async #writeLines(lines: readonly Buffer[]): Promise<void> {
    let chunk: Buffer[] = [];
    let length = 0;
    const flush = async (): Promise<void> => {
      if (length > 0) await this.#append(chunk, length);
      this.#size += length;
      chunk = [];
      length = 0;
    };
    for (const line of lines) {
      const bytes = line.length + LINE_BREAK.length;
      if (this.#size + length > 0 && this.#size + length + bytes > this.#maxBytes) {
        await flush();
        await this.#rotate();
      }
      chunk.push(line, LINE_BREAK);
      length += bytes;
    }
    await flush();
  }

  /** Appends buffers of a total length without joining them: lines of lists are long. */
  async #append(buffers: readonly Buffer[], length: number): Promise<void> {
    const {bytesWritten} = await this.#file.writev(buffers);
    // The next write has the error of a full disk.
    if (bytesWritten < length) await this.#file.appendFile(Buffer.concat(buffers).subarray(bytesWritten));
  }

  async #rotate(): Promise<void> {
    const {path, maxFiles, header} = this.#options;
    await this.#file.close();
    for (let number = maxFiles - 1; number > 0; number -= 1)
      await renameIfPresent(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
    this.#file = await open(path, 'w', 0o600);
    const first = Buffer.from(`${header()}\n`);
    await this.#file.appendFile(first);
    this.#size = first.length;
  }

  /** Closes the file, and removes it if nothing was recorded to it: it would be in the way of the next try. Never rejects. */
  async discard(): Promise<void> {
    const {path} = this.#options;
    try {
      const isFile = (await this.#file.stat()).isFile();
      if (this.#isUnused && isFile) await unlink(path);
      await this.close();
    } catch {
      // The error that ends the recording is reported.
    }
  }

  /** Waits for the disk and closes the file. Rejects with SystemError if lines could not be written. */
  async close(): Promise<void> {
    if (this.#lost > 0 && this.#failure === undefined) {
      this.#addLost();
      this.#writing ??= this.#writeAll();
    }
    while (this.#writing !== undefined) await this.#writing;
    await this.#file.close();
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Opens a file that is empty or does not exist, and takes it from other users. */
async function openPrivate(path: string): Promise<FileHandle> {
  const file = await open(path, 'a', 0o600);
  try {
    const found = await file.stat();
    // A pipe or a terminal is for whoever reads it.
    if (!found.isFile()) return file;
    if (found.uid !== process.geteuid?.())
      throw new SystemError(`the file "${path}" belongs to another user, who could read the recording`, {
        hint: 'remove it, or record to another file',
      });
    await file.chmod(0o600);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function renameIfPresent(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}
