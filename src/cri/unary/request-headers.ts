import {joinBytes} from '../http2/byte-order.js';
import {encodeHeaders, type HeaderField} from '../http2/hpack.js';
import type {WireCallOptions} from '../transport.js';

const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^[ -~]*$/;

/** Encoded headers by path; there are few methods. */
const encodedPaths = new Map<string, Buffer>();

/**
 * Returns the encoded headers of a unary call. `timeoutMs` is the remaining time until its deadline, `Infinity` for
 * none.
 */
export function requestHeaders(
  path: string,
  timeoutMs: number,
  metadata: WireCallOptions['metadata'] = {},
): Buffer {
  const extra: HeaderField[] = Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]);
  if (timeoutMs !== Infinity) extra.unshift(['grpc-timeout', grpcTimeout(timeoutMs)]);
  const common = commonHeaders(path);
  return extra.length === 0 ? common : joinBytes([common, encodeHeaders(extra)]);
}

/** Throws TypeError for metadata with an invalid name or value. */
export function checkMetadata(metadata: WireCallOptions['metadata'] = {}): void {
  for (const [name, value] of Object.entries(metadata))
    if (!NAME.test(name.toLowerCase()) || name.endsWith('-bin') || !VALUE.test(value))
      throw new TypeError(`invalid metadata: ${name}`);
}

function commonHeaders(path: string): Buffer {
  let encoded = encodedPaths.get(path);
  if (encoded === undefined) {
    encoded = encodeHeaders([
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', path],
      [':authority', 'localhost'],
      ['te', 'trailers'],
      ['content-type', 'application/grpc'],
      ['user-agent', 'kcri'],
    ]);
    encodedPaths.set(path, encoded);
  }
  return encoded;
}

/** Formats a timeout as at most eight digits with `m` for milliseconds or `S` for seconds. */
function grpcTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms));
  return whole < 1e8 ? `${whole}m` : `${Math.ceil(whole / 1000)}S`;
}
