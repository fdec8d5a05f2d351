import {PlainLogFile, type LogFile, type OpenLogOptions} from '../log-file.js';
import type {LogFileState} from '../log-files.js';

const READ_BYTES = 64 * 1024;

/** A gzipped rotated log. Is read from its start and does not grow. */
export class GzippedLogFile implements LogFile {
  readonly #file: PlainLogFile;
  readonly #signal: AbortSignal | undefined;
  #chunks: AsyncGenerator<Buffer> | undefined;
  #chunk: Buffer = Buffer.allocUnsafe(0);

  private constructor(file: PlainLogFile, signal: AbortSignal | undefined) {
    this.#file = file;
    this.#signal = signal;
  }

  static async open(path: string, options: OpenLogOptions = {}): Promise<GzippedLogFile> {
    return new GzippedLogFile(await PlainLogFile.open(path, options), options.signal);
  }

  get path(): string {
    return this.#file.path;
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
    await this.#file[Symbol.asyncDispose]();
  }
}

async function* unzipped(file: PlainLogFile): AsyncGenerator<Buffer> {
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

async function* chunksOf(file: PlainLogFile): AsyncGenerator<Buffer> {
  for (let position = 0; ;) {
    const chunk = Buffer.allocUnsafe(READ_BYTES);
    const count = await file.readAt(chunk, position);
    if (count === 0) return;
    position += count;
    yield chunk.subarray(0, count);
  }
}
