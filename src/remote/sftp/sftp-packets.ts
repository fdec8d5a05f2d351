/** Types of packets of the SSH file transfer protocol, version 3. */
export const PACKET = {
  init: 1,
  version: 2,
  open: 3,
  close: 4,
  read: 5,
  fstat: 8,
  opendir: 11,
  readdir: 12,
  remove: 13,
  realpath: 16,
  stat: 17,
  extended: 200,
  status: 101,
  handle: 102,
  data: 103,
  name: 104,
  attributes: 105,
  extendedReply: 201,
} as const;

/** Status codes of responses. */
export const STATUS = {ok: 0, endOfFile: 1, noSuchFile: 2, permissionDenied: 3, unsupported: 8} as const;

/** Attributes of a file, as far as the server reports them. */
export interface FileAttributes {
  readonly size: number | undefined;
  /** User ID of the owner. */
  readonly owner: number | undefined;
  /** Type and permission bits, as in st_mode. */
  readonly mode: number | undefined;
  /** Modification time in seconds since the epoch. */
  readonly modifiedAt: number | undefined;
}

/** Longest packet of a server that is accepted, in bytes. */
const LONGEST_PACKET = 1024 * 1024;

/** A field of a packet: a number of 32 bits, a number of 64 bits, or a string with its length. */
export type Field = number | bigint | string | Buffer;

/** Encodes a packet with its length. */
export function encodePacket(type: number, fields: readonly Field[]): Buffer {
  const parts = fields.flatMap((field) => {
    if (typeof field === 'number') return [uint32(field)];
    if (typeof field === 'bigint') return [uint64(field)];
    const bytes = Buffer.from(field);
    return [uint32(bytes.length), bytes];
  });
  const length = parts.reduce((sum, part) => sum + part.length, 1);
  return Buffer.concat([uint32(length), Buffer.of(type), ...parts]);
}

/** Reads the fields of a packet in order. Its methods throw RangeError at the end. */
export class PacketReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  uint32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32BE(this.#at - 4);
  }

  uint64(): number {
    this.#at += 8;
    return Number(this.#bytes.readBigUInt64BE(this.#at - 8));
  }

  string(): Buffer {
    const length = this.uint32();
    if (this.#at + length > this.#bytes.length) throw new RangeError('the packet is too short');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  attributes(): FileAttributes {
    const flags = this.uint32();
    const size = (flags & 1) === 0 ? undefined : this.uint64();
    const owner = (flags & 2) === 0 ? undefined : this.uint32();
    if (owner !== undefined) this.uint32();
    const mode = (flags & 4) === 0 ? undefined : this.uint32();
    let modifiedAt: number | undefined;
    if ((flags & 8) !== 0) {
      this.uint32();
      modifiedAt = this.uint32();
    }
    const extended = flags >>> 31 === 1 ? this.uint32() : 0;
    for (let left = extended * 2; left > 0; left -= 1) this.string();
    return {size, owner, mode, modifiedAt};
  }
}

/** Splits a stream of bytes into packets. */
export class PacketSplitter {
  #chunks: Buffer[] = [];
  #length = 0;

  /** Returns the complete packets after more bytes, without their lengths. Throws RangeError for one that is too long. */
  push(chunk: Buffer): readonly Buffer[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const packets: Buffer[] = [];
    while (this.#length >= 4) {
      const all = this.#joined();
      const length = all.readUInt32BE(0);
      if (length > LONGEST_PACKET) throw new RangeError(`a packet has ${length} bytes`);
      if (all.length < 4 + length) break;
      packets.push(all.subarray(4, 4 + length));
      this.#chunks = [all.subarray(4 + length)];
      this.#length -= 4 + length;
    }
    return packets;
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] ?? Buffer.alloc(0);
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}
