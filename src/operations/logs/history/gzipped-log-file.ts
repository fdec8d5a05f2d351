import type {LogFile, OpenLogOptions} from '../log-file.js';
import {LOCAL_LOG_FILES, type LogFileState, type OpenLogFile} from '../log-files.js';

const READ_BYTES = 64 * 1024;

/** A gzipped rotated log. Is read from its start and does not grow. */
export class GzippedLogFile implements LogFile {
  readonly path: string;
  readonly #file: OpenLogFile;
  readonly #signal: AbortSignal | undefined;
  #chunks: AsyncGenerator<Buffer> | undefined;
  #chunk: Buffer = Buffer.allocUnsafe(0);

  private constructor(path: string, file: OpenLogFile, signal: AbortSignal | undefined) {
    this.path = path;
    this.#file = file;
    this.#signal = signal;
  }

  static async open(
    path: string,
    {files = LOCAL_LOG_FILES, signal}: OpenLogOptions = {},
  ): Promise<GzippedLogFile> {
    return new GzippedLogFile(path, await files.open(path), signal);
  }

  async state(): Promise<LogFileState> {
    return await this.#file.state();
  }

  async read(into: Buffer, at: number): Promise<number> {
    this.#signal?.throwIfAborted();
    this.#chunks ??= unzipped(this.#file);
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
    await this.#file.close();
  }
}

async function* unzipped(file: OpenLogFile): AsyncGenerator<Buffer> {
  const [{createGunzip}, {pipeline}] = await Promise.all([
    import('node:zlib'),
    import('node:stream/promises'),
  ]);
  const gunzip = createGunzip({chunkSize: READ_BYTES});
  // Its error is also thrown by the iteration.
  const piping = pipeline(chunksOf(file), gunzip).catch(() => undefined);
  yield* gunzip as AsyncIterable<Buffer>;
  await piping;
}

async function* chunksOf(file: OpenLogFile): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    const count = await file.readAt(chunk, position);
    if (count === 0) return;
    position += count;
    yield chunk.subarray(0, count);
  }
}
