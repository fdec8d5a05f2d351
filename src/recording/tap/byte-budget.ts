/** Limit of bytes that are held in memory at a time. */
export class ByteBudget {
  #available: number;

  constructor(bytes: number) {
    this.#available = bytes;
  }

  /** Takes bytes, which the caller gives back with `release`. Returns false, and takes none, if too few are left. */
  take(bytes: number): boolean {
    if (bytes > this.#available) return false;
    this.#available -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#available += bytes;
  }
}
