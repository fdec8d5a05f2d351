/** So many texts are remembered that are no longer what there is. */
const MOST_REPLACED = 200;

/** Texts that are replaced by others now and then: those that there are, and the last that there were. */
export class RecentTexts {
  #current: ReadonlySet<string> = new Set();
  /** The first to be replaced first. */
  readonly #replaced = new Set<string>();

  /** Takes what there is now. */
  set(texts: readonly string[]): void {
    const current = new Set(texts);
    for (const text of this.#current) if (!current.has(text)) this.#replaced.add(text);
    for (const text of current) this.#replaced.delete(text);
    for (const text of this.#replaced) {
      if (this.#replaced.size <= MOST_REPLACED) break;
      this.#replaced.delete(text);
    }
    this.#current = current;
  }

  all(): readonly string[] {
    return [...this.#current, ...this.#replaced];
  }
}
