import {hiddenTexts} from '../../format/hidden-texts.js';
import type {Json} from '../../format/json.js';
import {MASK} from './secrets.js';

/** Shorter values are in too many words to be looked for; a variable that is one is masked all the same. */
const SHORTEST_PART = 4;

/** Texts that this run knows to be secret, wherever they turn up. */
export class HiddenValues {
  readonly #values = new Set<string>();
  #patterns: readonly string[] = [];

  /** Learns texts that must not be shown from now on. */
  add(values: Iterable<string>): void {
    for (const value of values) if (value !== '') this.#values.add(value);
    const forms = [...this.#values].flatMap((value) => [
      ...hiddenTexts(value),
      ...[value, value.trim()].map((text) => Buffer.from(text).toString('base64')),
    ]);
    // The longest first: one may be part of another.
    this.#patterns = [...new Set(forms)]
      .filter((form) => form.length >= SHORTEST_PART)
      .sort((a, b) => b.length - a.length);
  }

  /** The text without them. */
  mask(text: string): string {
    return this.#patterns.reduce((masked, pattern) => masked.replaceAll(pattern, MASK), text);
  }

  /** The same data without them, also where they are part of a variable's value, which proto JSON has in base64. */
  maskData(json: Json): Json {
    if (typeof json === 'string') return this.mask(json);
    if (Array.isArray(json)) return (json as readonly Json[]).map((item) => this.maskData(item));
    if (typeof json !== 'object' || json === null) return json;
    const fields = json as Readonly<Record<string, Json>>;
    return Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name,
        name === 'value' && typeof value === 'string' && this.#isInside(value) ? MASK : this.maskData(value),
      ]),
    );
  }

  #isInside(base64: string): boolean {
    const text = Buffer.from(base64, 'base64').toString();
    return this.#values.has(text) || this.mask(text) !== text;
  }
}
