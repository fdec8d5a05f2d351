import {decode} from '../../cri/codec.js';
import {WireError} from '../../cri/wire-format.js';

/** What is done with the URL of a response. */
export interface UrlReplacement {
  /**
   * Returns the URL that the client gets in place of the runtime's, of the same length; undefined, after reporting the reason,
   * for the runtime's.
   */
  readonly replace: (url: string) => string | undefined;
  /** Called with the reason if the client gets a response that could not be read, with the runtime's URL. */
  readonly onOmitted: (reason: string) => void;
}

/** Length of a message prefix: compression flag and message length. */
const PREFIX_LENGTH = 5;
/** Maximum length of a response with a URL, in bytes. */
const MAX_LENGTH = 16 * 1024;

/**
 * Replaces the URL in the response to Exec, Attach or PortForward. The replacement has the same length, so that HTTP/2's
 * frames and windows stay as the runtime sent them: bytes are only overwritten, in the memory that they arrived in.
 */
export class AnswerUrl {
  readonly #replacement: UrlReplacement;
  #parts: Buffer[] = [];
  #length = 0;
  #isDone = false;

  constructor(replacement: UrlReplacement) {
    this.#replacement = replacement;
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
    if (body[0] !== 0) this.abandon('the response with its URL is compressed');
    else if (end > MAX_LENGTH) this.abandon('the response with its URL is too long');
    else if (body.length >= end) this.abandon(this.#overwrite(body, body.subarray(PREFIX_LENGTH, end)));
  }

  /** Leaves the response as it is from now on. `reason` is why its URL stays; undefined if none does. */
  abandon(reason?: string): void {
    this.#isDone = true;
    this.#parts = [];
    if (reason !== undefined) this.#replacement.onOmitted(reason);
  }

  /** Returns the reason why it does not, unless there is no URL, or the reason was reported. */
  #overwrite(body: Buffer, message: Buffer): string | undefined {
    const url = urlOf(message);
    if (url === undefined) return 'the response with its URL is malformed';
    const replacement = url === '' ? undefined : this.#replacement.replace(url);
    if (replacement === undefined) return undefined;
    const at = message.indexOf(url);
    if (at < 0 || Buffer.byteLength(replacement) !== Buffer.byteLength(url))
      return 'its URL cannot be replaced by one of the same length';
    body.write(replacement, PREFIX_LENGTH + at);
    let from = 0;
    for (const part of this.#parts) {
      body.copy(part, 0, from, from + part.length);
      from += part.length;
    }
    return undefined;
  }
}

/** Returns the URL of a response, the same field in those of Exec, Attach and PortForward; undefined if it is malformed. */
function urlOf(message: Buffer): string | undefined {
  try {
    return decode('ExecResponse', message).url;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}
