import {goQuote} from './go-quote.js';
import {formatCompactJson} from './json.js';

/** Replacement for a secret. */
export const MASK = '***';

/** Minimum length of a secret; shorter values occur in too many words. */
const MIN_LENGTH = 4;
/** Minimum length of a line of a secret that is masked separately. */
const MIN_LINE_LENGTH = 8;

/**
 * Returns the texts to mask for a secret value: the value, without surrounding whitespace, each of its lines with the
 * minimum length, and all of these as quoted by JSON and Go.
 */
export function secretForms(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const texts = [value, value.trim(), ...lines.filter((line) => line.length >= MIN_LINE_LENGTH)];
  const forms = texts.flatMap((text) => [
    text,
    ...[JSON.stringify(text), formatCompactJson(text), goQuote(text)].map(unquoted),
  ]);
  return [...new Set(forms)];
}

function unquoted(text: string): string {
  return text.slice(1, -1);
}

/** Masks secret values in texts, in all their forms. */
export class SecretRedactor {
  readonly #forms = new Set<string>();
  /** Sorted by length, longest first, since one may contain another; undefined until needed. */
  #sorted: readonly string[] | undefined;
  /** The same by their first characters. */
  #byStart: ReadonlyMap<string, readonly string[]> = new Map();

  /** Adds values to mask. */
  add(values: Iterable<string>): void {
    for (const value of values)
      for (const form of secretForms(value)) if (form.length >= MIN_LENGTH) this.#forms.add(form);
    this.#sorted = undefined;
  }

  /** Returns the text with all secrets masked. */
  mask(text: string): string {
    if (this.#sorted === undefined) {
      this.#sorted = [...this.#forms].sort((a, b) => b.length - a.length);
      this.#byStart = groupByStart(this.#sorted);
    }
    return this.#candidates(this.#sorted, text).reduce((masked, form) => masked.replaceAll(form, MASK), text);
  }

  /** Returns the forms that occur in the text, longest first, in a time that hardly depends on the number of all forms. */
  #candidates(sorted: readonly string[], text: string): readonly string[] {
    if (sorted.length <= FEW) return sorted;
    const found = new Set<string>();
    for (let at = 0; at <= text.length - MIN_LENGTH; at++)
      for (const form of this.#byStart.get(text.slice(at, at + MIN_LENGTH)) ?? [])
        if (text.startsWith(form, at)) found.add(form);
    return [...found].sort((a, b) => b.length - a.length);
  }
}

/** Number of forms that are simply tried one after the other. */
const FEW = 32;

function groupByStart(forms: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const form of forms) {
    const start = form.slice(0, MIN_LENGTH);
    const group = groups.get(start);
    if (group === undefined) groups.set(start, [form]);
    else group.push(form);
  }
  return groups;
}
