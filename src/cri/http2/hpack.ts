import type {NativeBuffer} from '../../base/native-buffer.js';
import {joinBytes} from './byte-order.js';
import {STATIC_TABLE} from './hpack-tables.js';
import {decodeHuffman} from './huffman.js';
import {ERROR_CODE, ProtocolError} from './protocol-constants.js';

/** Name of a header in lower case, and its value with one character per byte. */
export type HeaderField = readonly [name: string, value: string];

/** Size added to each field's text (RFC 7541, 4.1). */
const FIELD_OVERHEAD = 32;
/** Default of SETTINGS_HEADER_TABLE_SIZE. */
const DEFAULT_TABLE_SIZE = 4096;
const MAX_INTEGER = 2 ** 28;

/**
 * Table size update for the first block of a connection: this side uses no dynamic table, so that the peer may shrink
 * its table at any time without an acknowledgement.
 */
export const NO_DYNAMIC_TABLE = joinBytes([[0x20]]);

/** Decodes the header blocks of one connection, in order: each block changes the state for the next. */
export class HeaderDecoder {
  readonly #maxListBytes: number;
  /** Dynamic table, the oldest entry first. */
  readonly #table: HeaderField[] = [];
  #tableBytes = 0;
  #maxTableBytes = DEFAULT_TABLE_SIZE;

  readonly #tableLimit: number;

  /**
   * Lists that exceed `maxListBytes`, including 32 bytes a field, are decoded and then discarded. `tableLimit` is the
   * maximum size of the table that this side has announced to its peer.
   */
  constructor(maxListBytes: number, tableLimit: number = DEFAULT_TABLE_SIZE) {
    this.#maxListBytes = maxListBytes;
    this.#tableLimit = tableLimit;
  }

  /** Returns the fields of a block, or undefined if they exceed the maximum size. Throws ProtocolError. */
  decode(block: Buffer): readonly HeaderField[] | undefined {
    const reader = new BlockReader(block);
    const fields: HeaderField[] = [];
    let bytes = 0;
    while (!reader.done) {
      const field = this.#next(reader, fields.length > 0 || bytes > 0);
      if (field === undefined) continue;
      bytes += sizeOf(field);
      if (bytes <= this.#maxListBytes) fields.push(field);
    }
    return bytes <= this.#maxListBytes ? fields : undefined;
  }

  /** Returns the next field, or undefined for a table size update, which is only allowed before the first field. */
  #next(reader: BlockReader, started: boolean): HeaderField | undefined {
    const first = reader.peek();
    if (first >= 0x80) return this.#field(reader.integer(7));
    if (first >= 0x40) return this.#add(this.#literal(reader, 6));
    if (first < 0x20) return this.#literal(reader, 4);
    if (started) throw malformed('a table size update after a header');
    this.#resize(reader.integer(5));
    return undefined;
  }

  #literal(reader: BlockReader, prefixBits: number): HeaderField {
    const index = reader.integer(prefixBits);
    const name = index === 0 ? reader.string() : this.#field(index)[0];
    return [name, reader.string()];
  }

  #field(index: number): HeaderField {
    const field =
      index <= STATIC_TABLE.length
        ? STATIC_TABLE[index - 1]
        : this.#table[this.#table.length - (index - STATIC_TABLE.length)];
    if (field === undefined) throw malformed(`invalid header index ${index}`);
    return field;
  }

  #add(field: HeaderField): HeaderField {
    this.#table.push(field);
    this.#tableBytes += sizeOf(field);
    this.#evict();
    return field;
  }

  #resize(bytes: number): void {
    if (bytes > this.#tableLimit) throw malformed(`a header table of ${bytes} bytes`);
    this.#maxTableBytes = bytes;
    this.#evict();
  }

  #evict(): void {
    while (this.#tableBytes > this.#maxTableBytes) {
      const oldest = this.#table.shift();
      if (oldest === undefined) return;
      this.#tableBytes -= sizeOf(oldest);
    }
  }
}

/** Reads HPACK's integers and strings from one block. */
class BlockReader {
  readonly #block: Buffer;
  #position = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  get done(): boolean {
    return this.#position >= this.#block.length;
  }

  peek(): number {
    const byte = this.#block[this.#position];
    if (byte === undefined) throw malformed('truncated header block');
    return byte;
  }

  integer(prefixBits: number): number {
    const prefix = 2 ** prefixBits - 1;
    let value = this.peek() & prefix;
    this.#position += 1;
    if (value < prefix) return value;
    for (let scale = 1, byte = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = this.peek();
      this.#position += 1;
      value += (byte & 0x7f) * scale;
      if (value > MAX_INTEGER || scale > MAX_INTEGER) throw malformed('integer too large');
    }
    return value;
  }

  string(): string {
    const huffman = this.peek() >= 0x80;
    const length = this.integer(7);
    const start = this.#position;
    if (length > this.#block.length - start) throw malformed('truncated header block');
    this.#position += length;
    const bytes = this.#block.subarray(start, this.#position);
    return huffman ? decodeHuffman(bytes) : (bytes as NativeBuffer).latin1Slice();
  }
}

/**
 * Encodes headers so that the peer does not add them to its table: static table entries by index, all others as
 * literals.
 */
export function encodeHeaders(fields: readonly HeaderField[]): Buffer {
  const bytes: number[] = [];
  for (const field of fields) encodeField(bytes, field);
  return joinBytes([bytes]);
}

function encodeField(bytes: number[], [name, value]: HeaderField): void {
  /** Number of the first field with this name, or 0. */
  let nameIndex = 0;
  // With an index: interpreted code allocates memory for each item of an iteration.
  for (let at = 0; at < STATIC_TABLE.length; at += 1) {
    const field = STATIC_TABLE[at];
    if (field?.[0] !== name) continue;
    if (field[1] === value) {
      encodeInteger(bytes, {pattern: 0x80, prefixBits: 7, value: at + 1});
      return;
    }
    nameIndex ||= at + 1;
  }
  encodeInteger(bytes, {pattern: 0, prefixBits: 4, value: nameIndex});
  if (nameIndex === 0) encodeString(bytes, name);
  encodeString(bytes, value);
}

function encodeString(bytes: number[], text: string): void {
  encodeInteger(bytes, {pattern: 0, prefixBits: 7, value: text.length});
  for (let at = 0; at < text.length; at += 1) bytes.push(text.charCodeAt(at) & 0xff);
}

/** Integer after a bit pattern in its first byte. */
interface PrefixedInteger {
  readonly pattern: number;
  readonly prefixBits: number;
  readonly value: number;
}

function encodeInteger(bytes: number[], {pattern, prefixBits, value}: PrefixedInteger): void {
  const prefix = 2 ** prefixBits - 1;
  if (value < prefix) {
    bytes.push(pattern | value);
    return;
  }
  bytes.push(pattern | prefix);
  let remaining = value - prefix;
  for (; remaining >= 0x80; remaining = Math.floor(remaining / 0x80)) bytes.push((remaining % 0x80) | 0x80);
  bytes.push(remaining);
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD;
}

function malformed(reason: string): ProtocolError {
  return new ProtocolError(ERROR_CODE.compression, reason);
}
