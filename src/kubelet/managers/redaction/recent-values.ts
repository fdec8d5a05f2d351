/** Maximum number of replaced values that are remembered. */
const MAX_REPLACED = 200;

/** The current values of a set that changes over time, and the last replaced ones. */
export class RecentValues {
  #current: ReadonlySet<string> = new Set();
  /** Replaced values, oldest first. */
  readonly #replaced = new Set<string>();

  /** Sets the current values. */
  set(texts: readonly string[]): void {
    const current = new Set(texts);
    for (const text of this.#current) if (!current.has(text)) this.#replaced.add(text);
    for (const text of current) this.#replaced.delete(text);
    for (const text of this.#replaced) {
      if (this.#replaced.size <= MAX_REPLACED) break;
      this.#replaced.delete(text);
    }
    this.#current = current;
  }

  /** Returns the current and the last replaced values. */
  all(): readonly string[] {
    return [...this.#current, ...this.#replaced];
  }
}
