import {Writable} from 'node:stream';
import type {OutputTarget} from '../../streaming/session/remote-output.js';

/** Maximum length of a line in bytes; longer lines are written in pieces. */
const MAX_LINE = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * Writes whole lines with a prefix to another stream, so that several writers can share it. `finish` writes an
 * unterminated last line.
 */
export class PrefixedLines extends Writable {
  readonly #prefix: Buffer;
  readonly #target: OutputTarget;
  #rest = Buffer.alloc(0);

  constructor(prefix: string, target: OutputTarget) {
    super();
    this.#prefix = Buffer.from(prefix);
    this.#target = target;
  }

  finish(): void {
    if (this.#rest.length > 0)
      this.#target.write(Buffer.concat([this.#prefix, this.#rest, Buffer.of(NEWLINE)]), () => undefined);
    this.#rest = Buffer.alloc(0);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    const lines: Buffer[] = [];
    let text = Buffer.concat([this.#rest, chunk]);
    for (let end = text.indexOf(NEWLINE); end >= 0; end = text.indexOf(NEWLINE)) {
      lines.push(this.#prefix, text.subarray(0, end + 1));
      text = text.subarray(end + 1);
    }
    this.#rest = text;
    if (text.length > MAX_LINE) {
      lines.push(this.#prefix, text, Buffer.of(NEWLINE));
      this.#rest = Buffer.alloc(0);
    }
    // The target handles its own errors.
    this.#target.write(Buffer.concat(lines), () => {
      callback();
    });
  }
}
