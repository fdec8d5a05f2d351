import type {JsonBuffer} from './json-buffer.js';

/** Length from which an item of a list is kept, in bytes: shorter ones are written as quickly as found. */
const MIN_BYTES = 256;
/** Maximum length of all that is kept, in bytes. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;
/** Memory of an item beside its bytes and its text, in bytes. */
const OVERHEAD = 400;
/** Length of the start of an item by which it is found, in bytes: objects of a runtime begin with their ID. */
const KEY_BYTES = 80;

interface KnownItem {
  readonly bytes: Buffer;
  readonly json: Buffer;
}

/**
 * Remembers the JSON of items of lists. A client that lists pods, containers and images again and again gets mostly the same ones,
 * and comparing their bytes takes a tenth of the time of writing them. All are forgotten when they need too much memory.
 */
export class KnownItems {
  readonly #target: JsonBuffer;
  readonly #lists = new Map<object, Map<string, KnownItem>>();
  #keptBytes = 0;

  constructor(target: JsonBuffer) {
    this.#target = target;
  }

  /** Adds the text of an item of `list` that has the same bytes as one before. Returns false if none has. */
  write(list: object, bytes: Buffer, [start, end]: readonly [start: number, end: number]): boolean {
    if (end - start < MIN_BYTES) return false;
    const known = this.#lists.get(list)?.get(keyOf(bytes, start));
    if (known === undefined || known.bytes.length !== end - start) return false;
    if (bytes.compare(known.bytes, 0, known.bytes.length, start, end) !== 0) return false;
    this.#target.copy(known.json, 0, known.json.length);
    return true;
  }

  /** Remembers an item of `list`, whose text begins at `jsonStart` and has just been added. */
  keep(
    list: object,
    bytes: Buffer,
    {start, end, jsonStart}: {readonly start: number; readonly end: number; readonly jsonStart: number},
  ): void {
    if (end - start < MIN_BYTES) return;
    const item = {bytes: Buffer.from(bytes.subarray(start, end)), json: this.#target.from(jsonStart)};
    if (this.#keptBytes + sizeOf(item) > MAX_KEPT_BYTES) {
      this.#lists.clear();
      this.#keptBytes = 0;
    }
    if (sizeOf(item) > MAX_KEPT_BYTES) return;
    const items = this.#lists.get(list) ?? new Map<string, KnownItem>();
    this.#lists.set(list, items);
    const key = keyOf(bytes, start);
    const replaced = items.get(key);
    items.set(key, item);
    this.#keptBytes += sizeOf(item) - (replaced === undefined ? 0 : sizeOf(replaced));
  }
}

function keyOf(bytes: Buffer, start: number): string {
  return bytes.toString('latin1', start, start + KEY_BYTES);
}

function sizeOf({bytes, json}: KnownItem): number {
  return bytes.length + json.length + OVERHEAD;
}
