import {SystemError} from '../base/errors.js';

/** Maximum length of a line, in bytes: more than the API server accepts for an object. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Splits a stream into lines without their newlines; an incomplete last line is dropped. Rejects with the stream's
 * error, and with SystemError for a line of more than `maxBytes` bytes.
 */
export async function* splitLines(
  stream: AsyncIterable<Uint8Array>,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      yield Buffer.concat([...parts, rest.subarray(0, end)]).toString();
      [parts, size] = [[], 0];
      rest = rest.subarray(end + 1);
    }
    size += rest.length;
    if (size > maxBytes) throw new SystemError(`the server sent a line of more than ${maxBytes} bytes`);
    if (rest.length > 0) parts.push(rest);
  }
}
