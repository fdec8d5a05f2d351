import {TextMask} from '../../format/hidden-texts.js';
import type {Json} from '../../format/json.js';
import {MASK} from './secrets.js';

/** Texts that this run knows to be secret, wherever they turn up. */
export class HiddenValues {
  readonly #values = new Set<string>();
  /** Those that others may take the place of. */
  #replaceable: readonly string[] = [];
  readonly #lasting = new Set<string>();
  #mask = new TextMask();

  /** Learns texts that must not be shown from now on. */
  add(values: Iterable<string>): void {
    const fresh = [...values].filter((value) => value !== '' && !this.#lasting.has(value));
    for (const value of fresh) this.#lasting.add(value);
    this.#learn(fresh);
  }

  /** Learns texts that must not be shown until it is called again. */
  replace(values: readonly string[]): void {
    const stays = new Set(values);
    const isGone = this.#replaceable.some((value) => !stays.has(value));
    this.#replaceable = values;
    if (isGone) {
      this.#values.clear();
      this.#mask = new TextMask();
      this.#learn(this.#lasting);
    }
    this.#learn(values);
  }

  #learn(values: Iterable<string>): void {
    const fresh = [...values].filter((value) => value !== '' && !this.#values.has(value));
    for (const value of fresh) this.#values.add(value);
    this.#mask.add(fresh.flatMap((value) => [value, inBase64(value), inBase64(value.trim())]));
  }

  /** The text without them. */
  mask(text: string): string {
    return this.#mask.mask(text);
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
    // A value that is too short to be looked for is known all the same as the whole of a variable.
    return this.#values.has(text) || this.mask(text) !== text;
  }
}

function inBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}
