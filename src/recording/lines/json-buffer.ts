/** Size of the memory that is kept from one text to the next, in bytes. */
const KEPT_BYTES = 256 * 1024;
/** Length from which a native copy is faster than a loop, in bytes. */
const NATIVE_COPY_BYTES = 256;

const QUOTE = 0x22;

/** Grows a JSON text as UTF-8. */
export class JsonBuffer {
  #bytes = Buffer.allocUnsafe(KEPT_BYTES);
  #length = 0;

  /** Length of the text so far, in bytes. */
  get length(): number {
    return this.#length;
  }

  /** Removes what was added after `length`. */
  truncate(length: number): void {
    this.#length = length;
  }

  /** Adds one ASCII character. */
  byte(code: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = code;
  }

  /** Adds a text as it is. */
  text(text: string): void {
    this.#reserve(3 * text.length);
    this.#length += this.#bytes.write(text, this.#length, 'utf8');
  }

  /** Adds bytes as they are. */
  copy(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start);
    this.#copy(source, start, end);
  }

  /** Adds a string of bytes that JSON does not escape. */
  quoted(source: Buffer, start: number, end: number): void {
    this.#reserve(end - start + 2);
    this.#bytes[this.#length++] = QUOTE;
    this.#copy(source, start, end);
    this.#bytes[this.#length++] = QUOTE;
  }

  #copy(source: Buffer, start: number, end: number): void {
    if (end - start >= NATIVE_COPY_BYTES) {
      this.#length += source.copy(this.#bytes, this.#length, start, end);
      return;
    }
    const target = this.#bytes;
    let to = this.#length;
    for (let at = start; at < end; at += 1) target[to++] = source[at] ?? 0;
    this.#length = to;
  }

  #reserve(size: number): void {
    if (this.#length + size > this.#bytes.length) this.#grow(size);
  }

  #grow(size: number): void {
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + size));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  /** Returns a copy of the text since `start`. */
  from(start: number): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#length));
  }

  /** Returns the text, which shares no memory with others if it is longer than a few kB, and begins a new one. */
  take(): Buffer {
    // A long text leaves with its memory: new memory costs as much as a copy into it.
    const isLong = 2 * this.#length > KEPT_BYTES;
    const text = isLong ? this.#bytes.subarray(0, this.#length) : this.from(0);
    this.#length = 0;
    if (isLong) this.#bytes = Buffer.allocUnsafe(KEPT_BYTES);
    return text;
  }
}
