import {Transform, type TransformCallback} from 'node:stream';

/**
 * Passes input through until the keys are typed in sequence, then calls `onDetach` and drops all further input. Holds
 * back a possible start of the sequence until the next key.
 */
export class DetachFilter extends Transform {
  readonly #keys: readonly number[];
  readonly #onDetach: () => void;
  /** Number of keys that are matched in sequence. */
  #matched = 0;

  constructor(keys: readonly number[], onDetach: () => void) {
    super();
    this.#keys = keys;
    this.#onDetach = onDetach;
  }

  get #isDetached(): boolean {
    return this.#keys.length > 0 && this.#matched === this.#keys.length;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    const passed: number[] = [];
    for (const byte of chunk) {
      if (this.#isDetached) break;
      this.#take(byte, passed);
    }
    if (this.#isDetached) this.#onDetach();
    callback(null, Buffer.from(passed));
  }

  override _flush(callback: TransformCallback): void {
    callback(null, Buffer.from(this.#isDetached ? [] : this.#keys.slice(0, this.#matched)));
  }

  #take(byte: number, passed: number[]): void {
    // Hold back the longest suffix of the input that is a prefix of the keys.
    const typed = [...this.#keys.slice(0, this.#matched), byte];
    let held = Math.min(typed.length, this.#keys.length);
    while (held > 0 && !this.#endsWithKeys(typed, held)) held -= 1;
    passed.push(...typed.slice(0, typed.length - held));
    this.#matched = held;
  }

  #endsWithKeys(typed: readonly number[], count: number): boolean {
    return this.#keys.slice(0, count).every((key, index) => key === typed[typed.length - count + index]);
  }
}
