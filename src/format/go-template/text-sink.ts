/** Maximum number of characters: more than real data needs, and safe for memory. */
export const MAX_TEXT = 2 ** 26;

/** Number of parts that are joined in one step, so that many short ones need no more memory than their text. */
const JOIN_COUNT = 65_536;

/** Collects the output of a template. */
export class TextSink {
  readonly #joined: string[] = [];
  #parts: string[] = [];
  #length = 0;

  /** Adds text. Returns false if the output exceeds MAX_TEXT. */
  write(text: string): boolean {
    this.#length += text.length;
    if (this.#length > MAX_TEXT) return false;
    this.#parts.push(text);
    if (this.#parts.length === JOIN_COUNT) this.#join();
    return true;
  }

  text(): string {
    this.#join();
    return this.#joined.join('');
  }

  #join(): void {
    this.#joined.push(this.#parts.join(''));
    this.#parts = [];
  }
}
