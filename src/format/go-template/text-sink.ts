/** More than any data gives, and little enough to hold in memory several times. */
export const MAX_TEXT = 2 ** 26;

/** Pieces that are joined at once, so that many short ones take no more room than their text. */
const PIECES = 65_536;

/** Gathers the text that a template writes. */
export class TextSink {
  readonly #joined: string[] = [];
  #pieces: string[] = [];
  #length = 0;

  /** False when the text is longer than MAX_TEXT with this piece. */
  write(text: string): boolean {
    this.#length += text.length;
    if (this.#length > MAX_TEXT) return false;
    this.#pieces.push(text);
    if (this.#pieces.length === PIECES) this.#join();
    return true;
  }

  text(): string {
    this.#join();
    return this.#joined.join('');
  }

  #join(): void {
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }
}
