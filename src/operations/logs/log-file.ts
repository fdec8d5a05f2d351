import {LOCAL_LOG_FILES, type LogFiles, type LogFileState, type OpenLogFile} from './log-files.js';

/** A plain or gzipped log file open for reading. */
export interface LogFile extends AsyncDisposable {
  readonly path: string;
  state(): Promise<LogFileState>;
  /**
   * Reads the next bytes into the buffer from offset `at`. Resolves with 0 at the end, although a plain file may
   * still grow.
   */
  read(into: Buffer, at: number): Promise<number>;
}

/** Options of opening a log. */
export interface OpenLogOptions {
  /** Files of the log's node; those of this machine by default. */
  readonly files?: LogFiles | undefined;
  /** Signal after whose abort reads reject with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A log file as written by the runtime. Can be read from any offset, and may grow. */
export class PlainLogFile implements LogFile {
  readonly path: string;
  readonly #file: OpenLogFile;
  readonly #signal: AbortSignal | undefined;
  #position = 0;

  private constructor(path: string, file: OpenLogFile, signal: AbortSignal | undefined) {
    this.path = path;
    this.#file = file;
    this.#signal = signal;
  }

  static async open(
    path: string,
    {files = LOCAL_LOG_FILES, signal}: OpenLogOptions = {},
  ): Promise<PlainLogFile> {
    return new PlainLogFile(path, await files.open(path), signal);
  }

  /** Continues reading at this offset. */
  seek(position: number): void {
    this.#position = position;
  }

  async state(): Promise<LogFileState> {
    return await this.#file.state();
  }

  async size(): Promise<number> {
    return (await this.#file.state()).size;
  }

  async read(into: Buffer, at: number): Promise<number> {
    const count = await this.readAt(into.subarray(at), this.#position);
    this.#position += count;
    return count;
  }

  /** Fills the buffer from an offset of the file, up to its end. */
  async readAt(into: Buffer, position: number): Promise<number> {
    this.#signal?.throwIfAborted();
    return await this.#file.readAt(into, position);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** Checks that a log can be opened. Rejects with the system's error, and with SystemError for a pipe or device. */
export async function checkLogFile(path: string): Promise<void> {
  const file = await LOCAL_LOG_FILES.open(path);
  await file.close();
}
