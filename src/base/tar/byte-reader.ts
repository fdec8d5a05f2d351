import {TarError} from './tar-header.js';

/** Reads blocks from a stream of chunks, and the content of a member between them. */
export class ByteReader {
  readonly #input: AsyncIterator<Uint8Array>;
  #chunk: Buffer = Buffer.alloc(0);
  /** Bytes of the member's content that were not read yet. */
  #contentLeft = 0;

  constructor(input: AsyncIterable<Uint8Array>) {
    this.#input = input[Symbol.asyncIterator]();
  }

  /** Returns the next `size` bytes; undefined at the end of the input. Rejects with TarError if it ends within them. */
  async read(size: number): Promise<Buffer | undefined> {
    if (this.#chunk.length === 0 && !(await this.#fill())) return undefined;
    return await this.readAll(size);
  }

  /** Returns the next `size` bytes. Rejects with TarError if the input ends before. */
  async readAll(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = size; left > 0;) {
      const part = await this.#take(left);
      // Chunks may be reused by their producer.
      parts.push(Buffer.from(part));
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Starts the content of a member; returns a function for the number of bytes that were not read of it. */
  startContent(size: number): () => number {
    this.#contentLeft = size;
    return () => this.#contentLeft;
  }

  /** Returns the content of the member in chunks. */
  async *content(): AsyncGenerator<Buffer, void, undefined> {
    while (this.#contentLeft > 0) {
      const part = await this.#take(this.#contentLeft);
      this.#contentLeft -= part.length;
      yield part;
    }
  }

  /** Skips bytes. Rejects with TarError if the input ends before. */
  async skip(size: number): Promise<void> {
    for (let left = size; left > 0;) left -= (await this.#take(left)).length;
  }

  /** Reads the input to its end. */
  async drain(): Promise<void> {
    while (await this.#fill());
  }

  /** Returns at most `size` bytes, at least one. */
  async #take(size: number): Promise<Buffer> {
    if (this.#chunk.length === 0 && !(await this.#fill())) throw new TarError('the archive is incomplete');
    const part = this.#chunk.subarray(0, size);
    this.#chunk = this.#chunk.subarray(part.length);
    return part;
  }

  async #fill(): Promise<boolean> {
    for (;;) {
      const next = await this.#input.next();
      if (next.done === true) return false;
      const {value} = next;
      if (value.length === 0) continue;
      this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
      return true;
    }
  }
}
