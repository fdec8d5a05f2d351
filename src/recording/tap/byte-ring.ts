/** Kinds of entries: bytes of a side of a connection, or the end of the connection. */
export const ENTRY = {client: 1, server: 2, close: 3} as const;

/** Kind of an entry. */
export type EntryKind = (typeof ENTRY)[keyof typeof ENTRY];

/** Entry of a ring; its bytes follow. */
export interface RingEntry {
  readonly kind: EntryKind;
  readonly connection: number;
  /** Time in ms since the epoch, and in ms since an arbitrary moment. */
  readonly nowMs: number;
  readonly sinceMs: number;
}

/** Shared memory of a ring: its bytes, and its state in int32 cells. */
export interface RingMemory {
  readonly bytes: SharedArrayBuffer;
  readonly state: SharedArrayBuffer;
}

/** Cells of the state: positions of writer and reader, which wrap, and whether the reader waits to be woken. */
const WRITTEN = 0;
const READ = 1;
const WAITS = 2;
const CELLS = 3;

/** Layout of an entry: kind and length, connection, and two times; then the bytes. */
const CONNECTION_AT = 4;
const NOW_AT = 8;
const SINCE_AT = 16;
const HEADER_LENGTH = 24;
/** Kind of the rest of the memory before its end, which is not used. */
const SKIP = 0;
/** Entries begin at multiples of it. */
const ALIGNMENT = 8;
/** Bits of a length. */
const LENGTH_BITS = 28;

/** Returns memory for a ring of a size that is a power of two, whose reader waits to be woken. */
export function ringMemory(bytes: number): RingMemory {
  const state = new SharedArrayBuffer(CELLS * Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(state)[WAITS] = 1;
  return {bytes: new SharedArrayBuffer(bytes), state};
}

/**
 * Passes bytes to a reader in another thread through memory that both share: each byte is copied once, and nothing is allocated.
 * Positions count up to 2^32 and wrap.
 */
export class RingWriter {
  readonly #bytes: Buffer;
  readonly #state: Int32Array;

  constructor({bytes, state}: RingMemory) {
    this.#bytes = Buffer.from(bytes);
    this.#state = new Int32Array(state);
  }

  /** Bytes that the reader has not read. */
  get used(): number {
    return (Atomics.load(this.#state, WRITTEN) - Atomics.load(this.#state, READ)) >>> 0;
  }

  /** Adds an entry. Returns false, and adds nothing, if there is no room for it. The bytes must be fewer than 2^28. */
  put({kind, connection, nowMs, sinceMs}: RingEntry, chunk: Buffer): boolean {
    const bytes = this.#bytes;
    const size = aligned(HEADER_LENGTH + chunk.length);
    const written = Atomics.load(this.#state, WRITTEN);
    const at = written & (bytes.length - 1);
    const skipped = at + size > bytes.length ? bytes.length - at : 0;
    if (this.used + skipped + size > bytes.length) return false;
    if (skipped > 0) bytes.writeUInt32LE(SKIP, at);
    const start = skipped > 0 ? 0 : at;
    bytes.writeUInt32LE(((kind << LENGTH_BITS) | chunk.length) >>> 0, start);
    bytes.writeUInt32LE(connection, start + CONNECTION_AT);
    bytes.writeDoubleLE(nowMs, start + NOW_AT);
    bytes.writeDoubleLE(sinceMs, start + SINCE_AT);
    chunk.copy(bytes, start + HEADER_LENGTH);
    Atomics.store(this.#state, WRITTEN, (written + skipped + size) | 0);
    return true;
  }

  /** Reports once whether the reader waits to be woken. */
  takeWaiting(): boolean {
    return Atomics.exchange(this.#state, WAITS, 0) === 1;
  }
}

/** Reads the entries of a ring. */
export class RingReader {
  readonly #bytes: Buffer;
  readonly #state: Int32Array;

  constructor({bytes, state}: RingMemory) {
    this.#bytes = Buffer.from(bytes);
    this.#state = new Int32Array(state);
  }

  /**
   * Reads entries of up to about `maxBytes`. Returns false if there are no more: the reader then waits to be woken. The bytes of an entry
   * are only valid during the call of `read`.
   */
  drain(read: (entry: RingEntry, chunk: Buffer) => void, maxBytes: number): boolean {
    Atomics.store(this.#state, WAITS, 0);
    for (let bytes = 0; bytes < maxBytes;) {
      const size = this.#next(read);
      if (size === 0) break;
      bytes += size;
    }
    if (!this.#isEmpty) return true;
    Atomics.store(this.#state, WAITS, 1);
    // An entry may have come before the writer could see that.
    return !this.#isEmpty;
  }

  get #isEmpty(): boolean {
    return Atomics.load(this.#state, WRITTEN) === Atomics.load(this.#state, READ);
  }

  /** Reads an entry. Returns its size in the ring; 0 if there is none. */
  #next(read: (entry: RingEntry, chunk: Buffer) => void): number {
    if (this.#isEmpty) return 0;
    const bytes = this.#bytes;
    const position = Atomics.load(this.#state, READ);
    const at = position & (bytes.length - 1);
    const first = bytes.readUInt32LE(at);
    let size = bytes.length - at;
    if (first !== SKIP) {
      const length = first & (2 ** LENGTH_BITS - 1);
      size = aligned(HEADER_LENGTH + length);
      const entry = {
        kind: (first >>> LENGTH_BITS) as EntryKind,
        connection: bytes.readUInt32LE(at + CONNECTION_AT),
        nowMs: bytes.readDoubleLE(at + NOW_AT),
        sinceMs: bytes.readDoubleLE(at + SINCE_AT),
      };
      read(entry, bytes.subarray(at + HEADER_LENGTH, at + HEADER_LENGTH + length));
    }
    Atomics.store(this.#state, READ, (position + size) | 0);
    return size;
  }
}

function aligned(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT;
}
