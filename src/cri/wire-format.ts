import type {NativeBuffer} from '../base/native-buffer.js';

/* The protobuf wire format: a reader of one buffer and a writer into a growing one. codec.ts handles messages. */

/** A malformed message from a peer. */
export class WireError extends Error {
  /** Go protobuf's text for this error. */
  readonly goMessage: string;

  constructor(message: string, goMessage = 'proto: cannot parse invalid wire-format data') {
    super(message);
    this.goMessage = goMessage;
  }
}

/** Returns grpc-go's details of a call whose response is malformed. */
export function malformedDetails({goMessage}: WireError): string {
  return `grpc: failed to unmarshal the received message: ${goMessage}`;
}

/** Wire types by name. */
export const WIRE = {varint: 0, fixed64: 1, bytes: 2, fixed32: 5} as const;

const MAX_INTERNED_LENGTH = 256;
const INTERNED_SLOTS = 256;
const internedStrings: string[] = [];

/** Maximum size of a tag with a length, and of a whole field without a length. */
const MAX_HEADER_BYTES = 20;

/** Result of `tag` at the end of a message. */
export const END_OF_MESSAGE = -1;

const BITS = new DataView(new ArrayBuffer(8));

/**
 * Reads from a buffer. Every read checks the end of the current message, so that malformed input ends in a WireError.
 */
export class WireReader {
  readonly #buffer: NativeBuffer;
  #position = 0;
  /** End of the current message. */
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

  /** Returns the tag of the next field, or END_OF_MESSAGE after the last one. */
  tag(): number {
    if (this.#position >= this.#end) return END_OF_MESSAGE;
    const byte = this.#buffer[this.#position] ?? 0;
    if (byte >= 0x80) return this.uint32();
    this.#position += 1;
    return byte;
  }

  /** Enters the next length-delimited field as a message. Returns the outer end, for `leaveMessage`. */
  enterMessage(): number {
    const length = this.uint32();
    const outerEnd = this.#end;
    this.#end = this.#take(length) + length;
    this.#position = this.#end - length;
    return outerEnd;
  }

  /** Continues after a message that was read completely. */
  leaveMessage(outerEnd: number): void {
    this.#end = outerEnd;
  }

  #byte(): number {
    if (this.#position >= this.#end) throw truncated();
    return this.#buffer[this.#position++] ?? 0;
  }

  /** Reads the low 32 bits of a varint as an unsigned number: tags, lengths, bool, enum, uint32. */
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

  /** Reads a varint as an unsigned 64-bit number. */
  uint64(): bigint {
    this.#varint64();
    return BITS.getBigUint64(0);
  }

  /** Reads a varint as a signed 64-bit number. */
  int64(): bigint {
    this.#varint64();
    return BITS.getBigInt64(0);
  }

  /** Reads a varint as a boolean: true if any bit is set. */
  bool(): boolean {
    this.#varint64();
    return BITS.getBigUint64(0) !== 0n;
  }

  /** Reads a varint into BITS: 28 bits, 28 more, and the last 8. */
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
    return this.text(start, start + length);
  }

  /** Returns the text between two positions. Throws WireError. */
  text(start: number, end: number): string {
    const text = this.#buffer.utf8Slice(start, end);
    // Invalid bytes are decoded as this character.
    if (text.includes('\uFFFD') && !Buffer.from(text).equals(this.#buffer.subarray(start, end)))
      throw new WireError('a string is not valid UTF-8', 'string field contains invalid UTF-8');
    return text;
  }

  /** Reads a string that occurs often, such as a label name, and returns the interned one if there is one. */
  internedString(): string {
    const length = this.uint32();
    const start = this.#take(length);
    const end = start + length;
    if (length > MAX_INTERNED_LENGTH) return this.text(start, end);
    const slot = (length * 31 + (this.#buffer[end - 1] ?? 0)) % INTERNED_SLOTS;
    const interned = internedStrings[slot];
    if (interned !== undefined && this.#isAt(interned, start, end)) return interned;
    const text = this.text(start, end);
    // Only ASCII strings can be compared byte by byte.
    if (text.length === length) internedStrings[slot] = text;
    return text;
  }

  #isAt(text: string, start: number, end: number): boolean {
    if (text.length !== end - start) return false;
    for (let at = 0; at < text.length; at++)
      if (text.charCodeAt(at) !== this.#buffer[start + at]) return false;
    return true;
  }

  /** Skips the next length-delimited field. Returns where its content starts; it ends at `position`. */
  span(): number {
    return this.#take(this.uint32());
  }

  /** End of the current message. */
  get end(): number {
    return this.#end;
  }

  /** Skips to `end`, the end of a message that was entered, whatever was entered in it. Returns what is between. */
  skipFrom(start: number, end: number): Buffer {
    this.#position = end;
    this.#end = end;
    return this.#buffer.subarray(start, end);
  }

  /** Reads bytes as a copy, so that a small field does not keep a large buffer alive. */
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
   * Skips the next field and returns 0 if the field is complete; otherwise returns the number of bytes to wait for
   * before the next attempt.
   */
  skipIfComplete(): number {
    const left = this.#end - this.#position;
    if (left < MAX_HEADER_BYTES) return MAX_HEADER_BYTES - left;
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
    if (length > this.#end - start) throw truncated();
    this.#position = start + length;
    return start;
  }
}

function truncated(): WireError {
  return new WireError('the message is truncated');
}

function tooLong(): WireError {
  return new WireError('a varint is longer than 10 bytes');
}

/** Largest length of a text that takes one byte. */
const LONGEST_SHORT_TEXT = 0x7f;
const LAST_ASCII = 0x7f;

/** Writes into a growing buffer; `finish` returns the bytes. */
export class WireWriter {
  #buffer = Buffer.allocUnsafe(256);
  #length = 0;

  #reserve(size: number): void {
    if (this.#length + size <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + size));
    larger.set(this.#buffer.subarray(0, this.#length));
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

  /** Writes a string. Throws WireError for bytes that are not UTF-8, which are lone surrogates in this range. */
  string(value: string): void {
    if (this.#shortAscii(value)) return;
    if (/[\udc80-\udcff]/u.test(value))
      throw new WireError('a string is not valid UTF-8', 'string field contains invalid UTF-8');
    const size = Buffer.byteLength(value);
    this.uint32(size);
    this.#reserve(size);
    this.#length += this.#buffer.write(value, this.#length, size, 'utf8');
  }

  /**
   * Writes a short text of ASCII characters; reports false for any other, and writes nothing. A short command has no other texts,
   * and need not compile the functions of Buffer.
   */
  #shortAscii(value: string): boolean {
    if (value.length > LONGEST_SHORT_TEXT) return false;
    this.#reserve(1 + value.length);
    const start = this.#length + 1;
    for (let at = 0; at < value.length; at += 1) {
      const code = value.charCodeAt(at);
      if (code > LAST_ASCII) return false;
      this.#buffer[start + at] = code;
    }
    this.#buffer[start - 1] = value.length;
    this.#length = start + value.length;
    return true;
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
