import {SecretRedactor} from '../../format/secret-redactor.js';
import type {Json} from '../../format/json.js';
import {MASK} from './mask-secrets.js';

/** Masks the secrets that this run knows, wherever they occur. */
export class ValueRedactor {
  readonly #values = new Set<string>();
  /** Secrets of the last `replace` call. */
  #replaceable: readonly string[] = [];
  readonly #lasting = new Set<string>();
  #mask = new SecretRedactor();

  /** Adds texts to mask from now on. */
  add(values: Iterable<string>): void {
    const fresh = [...values].filter((value) => value !== '' && !this.#lasting.has(value));
    for (const value of fresh) this.#lasting.add(value);
    this.#learn(fresh);
  }

  /** Sets texts to mask until the next call, which replaces them. */
  replace(values: readonly string[]): void {
    const stays = new Set(values);
    const isGone = this.#replaceable.some((value) => !stays.has(value));
    this.#replaceable = values;
    if (isGone) {
      this.#values.clear();
      this.#mask = new SecretRedactor();
      this.#learn(this.#lasting);
    }
    this.#learn(values);
  }

  #learn(values: Iterable<string>): void {
    const fresh = [...values].filter((value) => value !== '' && !this.#values.has(value));
    for (const value of fresh) this.#values.add(value);
    this.#mask.add(fresh.flatMap((value) => [value, inBase64(value), inBase64(value.trim())]));
  }

  /** Returns the text with known secrets masked. */
  mask(text: string): string {
    return this.#mask.mask(text);
  }

  /**
   * Returns the data with known secrets masked, including those in the value of a variable, which proto JSON encodes as
   * base64.
   */
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
    // A secret that is too short to search for is still detected if it is the whole value of a variable.
    return this.#values.has(text) || this.mask(text) !== text;
  }
}

function inBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
