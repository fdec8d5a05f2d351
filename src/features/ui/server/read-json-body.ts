import type {IncomingMessage} from 'node:http';
import {createDeadline} from '../../../base/async/deadline.js';
import {abortable} from '../../../base/async/abortable.js';
import type {Clock} from '../../../base/clock.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {RequestError} from './request-error.js';

/** Largest body, in bytes; a body is a token or a key. */
const MAX_BODY_BYTES = 4096;
/** Time for a body, in ms. */
export const BODY_DEADLINE_MS = 5000;
/** Number of bodies that are waited for at once, also of clients without a session. */
const MAX_PENDING = 16;

/** Reads small bodies of requests. */
export class BodyReader {
  readonly #clock: Clock;
  #pending = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the object that the body is in JSON; an empty object if it is anything else. Rejects with RequestError if the body
   * has another type, is too large or does not arrive in time, or if too many others are waited for.
   */
  async read(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
    // Browsers ask before they send JSON to another site, and this server does not allow it.
    if (request.headers['content-type']?.split(';')[0]?.trim() !== 'application/json')
      throw new RequestError(415, 'the body must be application/json');
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
    if (this.#pending >= MAX_PENDING)
      throw new RequestError(503, 'too many requests are being sent', 'try again in some seconds');
    using deadline = createDeadline(
      this.#clock,
      BODY_DEADLINE_MS,
      () => new RequestError(408, 'the body did not arrive in time'),
    );
    this.#pending += 1;
    try {
      return parseJsonObject(await abortable(readBytes(request), deadline.signal));
    } finally {
      this.#pending -= 1;
    }
  }
}

function tooLarge(): RequestError {
  return new RequestError(413, `the body has more than ${MAX_BODY_BYTES} bytes`);
}

/** Reads the body without destroying the connection, on which the answer follows. */
async function readBytes(request: IncomingMessage): Promise<string> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_BODY_BYTES) {
          chunks.push(chunk);
          return;
        }
        request.pause();
        reject(tooLarge());
      })
      .once('end', () => {
        resolve(Buffer.concat(chunks).toString());
      })
      .once('close', () => {
        reject(new RequestError(400, 'the body is incomplete'));
      });
  });
}
