import {goQuote} from './go-quote.js';
import {jsonLine} from './json.js';

/** What stands in the place of a secret. */
const MASK = '***';

/** Shorter values are in too many words. */
const SHORTEST = 4;
/** Shorter lines of a secret are in too many words; the whole of it is hidden all the same. */
const SHORTEST_LINE = 8;

/**
 * The texts to hide for a secret value: itself, without the blanks around it, each of its lines that is long enough to
 * be told by, and how JSON and Go quote these.
 */
export function hiddenTexts(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const texts = [value, value.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)];
  const forms = texts.flatMap((text) => [
    text,
    ...[JSON.stringify(text), jsonLine(text), goQuote(text)].map(unquoted),
  ]);
  return [...new Set(forms)];
}

function unquoted(text: string): string {
  return text.slice(1, -1);
}

/** Takes secret values out of texts, in all the forms in which they may stand there. */
export class TextMask {
  readonly #forms = new Set<string>();
  /** The longest first: one may be part of another. Undefined until it is asked for. */
  #sorted: readonly string[] | undefined;

  /** Learns values that must not be shown from now on. */
  add(values: Iterable<string>): void {
    for (const value of values)
      for (const form of hiddenTexts(value)) if (form.length >= SHORTEST) this.#forms.add(form);
    this.#sorted = undefined;
  }

  /** The text without them. */
  mask(text: string): string {
    this.#sorted ??= [...this.#forms].sort((a, b) => b.length - a.length);
    return this.#sorted.reduce((masked, form) => masked.replaceAll(form, MASK), text);
  }
}
