/**
 * The protobuf wire format: a reader over one buffer and a writer into a growing one. Both know nothing of
 * messages; codec.ts does.
 */

/** A malformed message from a peer. */
export class WireError extends Error {}

export const WIRE = {varint: 0, fixed64: 1, bytes: 2, fixed32: 5} as const;

/** How much is read as text at a time. A string keeps what was read with it alive, so it is little. */
const TEXT_BYTES = 1024;
/** Longer strings are read by themselves. */
const LONG_STRING_BYTES = 256;
const NAMES_KEPT = 256;
const names: string[] = [];
const NOT_ASCII = /[\x80-\xff]/g;

/** What `tag` gives at the end of a message. */
export const END = -1;

const BITS = new DataView(new ArrayBuffer(8));

/** Reads from `buffer`; every read checks the end of its message, so that garbage ends in a WireError. */
export class Reader {
  readonly #buffer: Buffer;
  #position = 0;
  /** Where the message that is read ends. */
  #end: number;
  /**
   * A piece of the buffer as text, a character for a byte, from which short strings are cut: until V8 has compiled what
   * is often used, its own functions for long texts are far quicker than any loop over bytes.
   */
  #text = '';
  #textStart = 0;
  /** Between these two places there is only ASCII. */
  #asciiStart = 0;
  #asciiEnd = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#end = buffer.length;
  }

  get done(): boolean {
    return this.#position >= this.#end;
  }

  /** The tag of the next field, END behind the last one. */
  tag(): number {
    if (this.#position >= this.#end) return END;
    const byte = this.#buffer[this.#position] ?? 0;
    if (byte >= 0x80) return this.uint32();
    this.#position += 1;
    return byte;
  }

  /** Begins the message that is the next length-delimited field; what it gives is for `leave`. */
  enter(): number {
    const length = this.uint32();
    const outerEnd = this.#end;
    this.#end = this.#take(length) + length;
    this.#position = this.#end - length;
    return outerEnd;
  }

  /** Goes on behind a message that was read to its end. */
  leave(outerEnd: number): void {
    this.#end = outerEnd;
  }

  #byte(): number {
    if (this.#position >= this.#end) throw cutOff();
    return this.#buffer[this.#position++] ?? 0;
  }

  /** A varint's low 32 bits as an unsigned number: tags, lengths, bool, enum, uint32. */
  uint32(): number {
    let byte = this.#byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift >= 70) throw tooLong();
      byte = this.#byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }

  /** A varint's 64 bits, unsigned. */
  uint64(): bigint {
    this.#varint64();
    return BITS.getBigUint64(0);
  }

  /** A varint's 64 bits, signed. */
  int64(): bigint {
    this.#varint64();
    return BITS.getBigInt64(0);
  }

  /** A varint of which any bit is set. */
  bool(): boolean {
    this.#varint64();
    return BITS.getBigUint64(0) !== 0n;
  }

  /** Puts a varint's bits into BITS: 28 bits, 28 more, and the last 8. */
  #varint64(): void {
    let low = 0;
    let middle = 0;
    let high = 0;
    let byte = 0x80;
    for (let shift = 0; byte >= 0x80; shift += 7) {
      if (shift >= 70) throw tooLong();
      byte = this.#byte();
      const bits = byte & 0x7f;
      if (shift < 28) low |= bits << shift;
      else if (shift < 56) middle |= bits << (shift - 28);
      else high |= bits << (shift - 56);
    }
    BITS.setUint32(0, (middle >>> 4) | (high << 24));
    BITS.setUint32(4, low | (middle << 28));
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#take(8));
  }

  string(): string {
    const length = this.uint32();
    const start = this.#take(length);
    const end = start + length;
    if (length === 0) return '';
    if (start < this.#asciiStart || end > this.#asciiEnd) {
      this.#lookForAscii(start, length);
      if (end > this.#asciiEnd) return this.#buffer.toString('utf8', start, end);
    }
    return this.#text.slice(start - this.#textStart, end - this.#textStart);
  }

  /** Finds out how far there is ASCII from `start` on, when a string of this length is short enough. */
  #lookForAscii(start: number, length: number): void {
    if (length > LONG_STRING_BYTES) return;
    if (start < this.#textStart || start + length > this.#textStart + this.#text.length) {
      this.#textStart = start;
      this.#text = this.#buffer.toString('latin1', start, Math.min(start + TEXT_BYTES, this.#buffer.length));
    }
    NOT_ASCII.lastIndex = start - this.#textStart;
    const found = NOT_ASCII.test(this.#text);
    this.#asciiStart = start;
    this.#asciiEnd = this.#textStart + (found ? NOT_ASCII.lastIndex - 1 : this.#text.length);
  }

  /** A string that comes again and again, such as the name of a label: the same one as the last time, if it is kept. */
  name(): string {
    const text = this.string();
    const {length} = text;
    const place =
      (length * 961 + text.charCodeAt(length - 1) * 31 + text.charCodeAt(length - 3)) % NAMES_KEPT;
    const kept = names[place];
    if (kept === text) return kept;
    if (length > 2 && length <= LONG_STRING_BYTES) names[place] = text;
    return text;
  }

  /** A copy, so that a small field doesn't keep a large message alive. */
  bytes(): Uint8Array {
    const length = this.uint32();
    const start = this.#take(length);
    return Uint8Array.prototype.slice.call(this.#buffer, start, start + length);
  }

  skip(wireType: number): void {
    if (wireType === WIRE.varint) this.#varint64();
    else if (wireType === WIRE.fixed64) this.#take(8);
    else if (wireType === WIRE.bytes) this.#take(this.uint32());
    else if (wireType === WIRE.fixed32) this.#take(4);
    else throw new WireError(`unknown wire type ${wireType}`);
  }

  #take(length: number): number {
    const start = this.#position;
    if (length > this.#end - start) throw cutOff();
    this.#position = start + length;
    return start;
  }
}

function cutOff(): WireError {
  return new WireError('the message is cut off');
}

function tooLong(): WireError {
  return new WireError('a varint is longer than 10 bytes');
}

/** Collects bytes; `finish` gives them as one buffer. */
export class Writer {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + size));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }

  uint32(value: number): void {
    this.#reserve(5);
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#buffer[this.#length++] = rest;
  }

  uint64(value: bigint): void {
    this.#reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      this.#buffer[this.#length++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.#buffer[this.#length++] = Number(rest);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  string(value: string): void {
    const size = Buffer.byteLength(value);
    this.uint32(size);
    this.#reserve(size);
    this.#length += this.#buffer.write(value, this.#length, size, 'utf8');
  }

  bytes(value: Uint8Array): void {
    this.uint32(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  finish(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}
