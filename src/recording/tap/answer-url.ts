import {decode} from '../../cri/codec.js';
import {WireError} from '../../cri/wire-format.js';

/** Returns the URL that the client gets in place of the runtime's, of the same length; undefined for the runtime's. */
export type ReplaceUrl = (url: string) => string | undefined;

/** Length of a message prefix: compression flag and message length. */
const PREFIX_LENGTH = 5;
/** Maximum length of a response with a URL, in bytes. */
const MAX_LENGTH = 16 * 1024;

/**
 * Replaces the URL in the response to Exec, Attach or PortForward. The replacement has the same length, so that HTTP/2's
 * frames and windows stay as the runtime sent them: bytes are only overwritten, in the memory that they arrived in.
 */
export class AnswerUrl {
  readonly #replace: ReplaceUrl;
  #parts: Buffer[] = [];
  #length = 0;
  #isDone = false;

  constructor(replace: ReplaceUrl) {
    this.#replace = replace;
  }

  /** True if a response has begun and is not complete: its bytes must not be passed on yet. */
  get isIncomplete(): boolean {
    return !this.#isDone && this.#length > 0;
  }

  /** True if there is nothing to wait for. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Reads the next part of the response's body, and overwrites the URL when it is complete. */
  push(part: Buffer): void {
    if (this.#isDone) return;
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length < PREFIX_LENGTH) return;
    const body = Buffer.concat(this.#parts);
    const end = PREFIX_LENGTH + body.readUInt32BE(1);
    const isReadable = body[0] === 0 && end <= MAX_LENGTH;
    if (isReadable && body.length < end) return;
    if (isReadable) this.#overwrite(body, body.subarray(PREFIX_LENGTH, end));
    this.abandon();
  }

  /** Leaves the response as it is. */
  abandon(): void {
    this.#isDone = true;
    this.#parts = [];
  }

  #overwrite(body: Buffer, message: Buffer): void {
    const url = urlOf(message);
    const replacement = url === undefined ? undefined : this.#replace(url);
    if (url === undefined || replacement === undefined) return;
    const at = message.indexOf(url);
    if (at < 0 || Buffer.byteLength(replacement) !== Buffer.byteLength(url)) return;
    body.write(replacement, PREFIX_LENGTH + at);
    let from = 0;
    for (const part of this.#parts) {
      body.copy(part, 0, from, from + part.length);
      from += part.length;
    }
  }
}

/** Returns the URL of a response: the same field in those of Exec, Attach and PortForward. */
function urlOf(message: Buffer): string | undefined {
  try {
    const {url} = decode('ExecResponse', message);
    return url === '' ? undefined : url;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
