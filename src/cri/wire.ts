/**
 * The protobuf wire format: a reader over one buffer and a writer into a growing one. Both know nothing of
 * messages; codec.ts does.
 */

/** A malformed message from a peer. */
export class WireError extends Error {}

export const WIRE = {varint: 0, fixed64: 1, bytes: 2, fixed32: 5} as const;

/** Reads from `buffer`; every read checks the end, so that garbage ends in a WireError. */
export class Reader {
  readonly #buffer: Buffer;
  #position: number;
  readonly end: number;

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer;
    this.#position = start;
    this.end = end;
  }

  get done(): boolean {
    return this.#position >= this.end;
  }

  #byte(): number {
    if (this.#position >= this.end) throw new WireError('the message is cut off');
    return this.#buffer[this.#position++] ?? 0;
  }

  /** A varint's low 32 bits as an unsigned number: tags, lengths, bool, enum, uint32. */
  uint32(): number {
    let byte = this.#byte();
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      if (shift >= 70) throw new WireError('a varint is longer than 10 bytes');
      byte = this.#byte();
      if (shift < 32) value |= (byte & 0x7f) << shift;
    }
    return value >>> 0;
  }

  /** A varint's 64 bits, unsigned. */
  uint64(): bigint {
    // Up to 49 bits fit a number exactly; bigint arithmetic is only paid for what is larger.
    let value = 0;
    let scale = 1;
    for (let index = 0; index < 7; index++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return BigInt(value);
      scale *= 0x80;
    }
    let result = BigInt(value);
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new WireError('a varint is longer than 10 bytes');
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#take(8));
  }

  string(): string {
    const length = this.uint32();
    const start = this.#take(length);
    return this.#buffer.toString('utf8', start, start + length);
  }

  /** A copy, so that a small field doesn't keep a large message alive. */
  bytes(): Uint8Array {
    const length = this.uint32();
    const start = this.#take(length);
    return Uint8Array.prototype.slice.call(this.#buffer, start, start + length);
  }

  /** A reader over the next length-delimited field. */
  nested(): Reader {
    const length = this.uint32();
    const start = this.#take(length);
    return new Reader(this.#buffer, start, start + length);
  }

  skip(wireType: number): void {
    if (wireType === WIRE.varint) this.uint64();
    else if (wireType === WIRE.fixed64) this.#take(8);
    else if (wireType === WIRE.bytes) this.#take(this.uint32());
    else if (wireType === WIRE.fixed32) this.#take(4);
    else throw new WireError(`unknown wire type ${wireType}`);
  }

  #take(length: number): number {
    const start = this.#position;
    if (length > this.end - start) throw new WireError('the message is cut off');
    this.#position = start + length;
    return start;
  }
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
