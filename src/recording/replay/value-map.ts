/** IDs, UIDs and IPv4 addresses in a text. In names of systemd slices, UIDs have underscores. */
const TOKEN =
  /[0-9a-f]{64}|[0-9a-f]{8}([-_])[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}|[0-9a-f]{32}|\d{1,3}(?:\.\d{1,3}){3}/gi;

/** Maps values of a recording to those of its replay, and back. */
export class ValueMap {
  readonly #actual = new Map<string, string>();
  readonly #recorded = new Map<string, string>();

  /** Adds a value and its counterpart. */
  set(recorded: string, actual: string): void {
    this.#actual.set(recorded, actual);
    this.#recorded.set(actual, recorded);
  }

  /** Reports whether this is a value of the replay. */
  isActual(value: string): boolean {
    return this.#recorded.has(value);
  }

  /** Returns the text with the values of the replay. */
  toActual(text: string): string {
    return replaceTokens(text, this.#actual);
  }

  /** Returns the text with the recorded values. */
  toRecorded(text: string): string {
    return replaceTokens(text, this.#recorded);
  }

  /** Returns the actual ID of a recorded one, which may be shortened; undefined while it is unknown. */
  idOf(recorded: string): string | undefined {
    const known = this.#actual.get(recorded);
    if (known !== undefined) return known;
    for (const [id, actual] of this.#actual) if (id.startsWith(recorded)) return actual;
    return undefined;
  }
}

function replaceTokens(text: string, values: ReadonlyMap<string, string>): string {
  const whole = values.get(text);
  if (whole !== undefined) return whole;
  return text.replace(TOKEN, (token, separator: string | undefined) => {
    if (separator !== '_') return values.get(token) ?? token;
    return values.get(token.replaceAll('_', '-'))?.replaceAll('-', '_') ?? token;
  });
}
