import {STATIC_TABLE} from './hpack-tables.js';
import {decodeHuffman} from './huffman.js';
import {ERROR, ProtocolError} from './protocol.js';

/** A header's name, in lower case, and its value, one character a byte. */
export type HeaderField = readonly [name: string, value: string];

/** What a field counts for beside its text (RFC 7541, 4.1). */
const FIELD_OVERHEAD = 32;
/** SETTINGS_HEADER_TABLE_SIZE unless one tells otherwise. */
const DEFAULT_TABLE_SIZE = 4096;
const LARGEST_INTEGER = 2 ** 28;

/**
 * Begins a connection's first block: this side keeps no dynamic table. So the peer may make its own smaller at any
 * time, and nothing has to be said about it.
 */
export const NO_DYNAMIC_TABLE = Buffer.of(0x20);

/** Reads the header blocks of one connection; each changes how the next one is read. */
export class HeaderDecoder {
  readonly #maxListBytes: number;
  /** The oldest first. */
  readonly #table: HeaderField[] = [];
  #tableBytes = 0;
  #maxTableBytes = DEFAULT_TABLE_SIZE;

  /** Lists longer than `maxListBytes`, 32 bytes a field included, are read but not kept. */
  constructor(maxListBytes: number) {
    this.#maxListBytes = maxListBytes;
  }

  /** The fields of a block; undefined when they are too many or too long. Throws ProtocolError. */
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

  /** The next field; undefined for a change of the table's size, which only stands before the first one. */
  #next(reader: BlockReader, begun: boolean): HeaderField | undefined {
    const first = reader.peek();
    if (first >= 0x80) return this.#field(reader.integer(7));
    if (first >= 0x40) return this.#add(this.#literal(reader, 6));
    if (first < 0x20) return this.#literal(reader, 4);
    if (begun) throw malformed('a change of the table size after a header');
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
    if (field === undefined) throw malformed(`no header has the index ${index}`);
    return field;
  }

  #add(field: HeaderField): HeaderField {
    this.#table.push(field);
    this.#tableBytes += sizeOf(field);
    this.#evict();
    return field;
  }

  #resize(bytes: number): void {
    if (bytes > DEFAULT_TABLE_SIZE) throw malformed(`a header table of ${bytes} bytes`);
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

/** HPACK's integers and strings, over one block. */
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
    if (byte === undefined) throw malformed('a header block that is cut off');
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
      if (value > LARGEST_INTEGER || scale > LARGEST_INTEGER) throw malformed('an integer that is too large');
    }
    return value;
  }

  string(): string {
    const huffman = this.peek() >= 0x80;
    const length = this.integer(7);
    const start = this.#position;
    if (length > this.#block.length - start) throw malformed('a header block that is cut off');
    this.#position += length;
    const bytes = this.#block.subarray(start, this.#position);
    return (huffman ? decodeHuffman(bytes) : bytes).toString('latin1');
  }
}

/** Headers that go without the peer's remembering them: what the static table has by its index, the rest as it is. */
export function encodeHeaders(fields: readonly HeaderField[]): Buffer {
  return Buffer.concat(fields.map(encodeField));
}

function encodeField([name, value]: HeaderField): Buffer {
  const whole = STATIC_TABLE.findIndex((field) => field[0] === name && field[1] === value);
  if (whole >= 0) return encodeInteger(0x80, 7, whole + 1);
  const named = STATIC_TABLE.findIndex((field) => field[0] === name);
  return Buffer.concat([
    encodeInteger(0, 4, named + 1),
    ...(named < 0 ? [encodeString(name)] : []),
    encodeString(value),
  ]);
}

function encodeString(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([encodeInteger(0, 7, bytes.length), bytes]);
}

/** An integer behind a pattern in its first byte. */
function encodeInteger(pattern: number, prefixBits: number, value: number): Buffer {
  const prefix = 2 ** prefixBits - 1;
  if (value < prefix) return Buffer.of(pattern | value);
  const bytes = [pattern | prefix];
  let rest = value - prefix;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Buffer.from(bytes);
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + FIELD_OVERHEAD;
}

function malformed(what: string): ProtocolError {
  return new ProtocolError(ERROR.compression, what);
}
