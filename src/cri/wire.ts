import type {NativeBuffer} from '../base/native-buffer.js';

/**
 * The protobuf wire format: a reader over one buffer and a writer into a growing one. Both know nothing of
 * messages; codec.ts does.
 */

/** A malformed message from a peer. */
export class WireError extends Error {}

export const WIRE = {varint: 0, fixed64: 1, bytes: 2, fixed32: 5} as const;

const LONGEST_KEPT = 256;
const NAMES_KEPT = 256;
const names: string[] = [];

/** What a tag and the length behind it take at most, and any field that has no length. */
const LONGEST_HEAD = 20;

/** What `tag` gives at the end of a message. */
export const END = -1;

const BITS = new DataView(new ArrayBuffer(8));

/** Reads from `buffer`; every read checks the end of its message, so that garbage ends in a WireError. */
export class Reader {
  readonly #buffer: NativeBuffer;
  #position = 0;
  /** Where the message that is read ends. */
  #end: number;

  constructor(buffer: Buffer) {
    this.#buffer = buffer as NativeBuffer;
    this.#end = buffer.length;
  }

  get position(): number {
    return this.#position;
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
    return this.#buffer.utf8Slice(start, start + length);
  }

  /** A string that comes again and again, such as the name of a label: the same one as the last time, if it is kept. */
  name(): string {
    const length = this.uint32();
    const start = this.#take(length);
    const end = start + length;
    if (length > LONGEST_KEPT) return this.#buffer.utf8Slice(start, end);
    const place = (length * 31 + (this.#buffer[end - 1] ?? 0)) % NAMES_KEPT;
    const kept = names[place];
    if (kept !== undefined && this.#isAt(kept, start, end)) return kept;
    const text = this.#buffer.utf8Slice(start, end);
    // Only ASCII can be told by its bytes.
    if (text.length === length) names[place] = text;
    return text;
  }

  #isAt(text: string, start: number, end: number): boolean {
    if (text.length !== end - start) return false;
    for (let at = 0; at < text.length; at++)
      if (text.charCodeAt(at) !== this.#buffer[start + at]) return false;
    return true;
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

  /**
   * Goes on behind the next field if all of it is there, and gives 0; else how many more bytes have to come before one
   * can tell.
   */
  skipWhole(): number {
    const left = this.#end - this.#position;
    if (left < LONGEST_HEAD) return LONGEST_HEAD - left;
    const wireType = this.tag() & 7;
    if (wireType !== WIRE.bytes) {
      this.skip(wireType);
      return 0;
    }
    const length = this.uint32();
    const missing = length - (this.#end - this.#position);
    if (missing > 0) return missing;
    this.#position += length;
    return 0;
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
