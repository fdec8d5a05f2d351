import {encodeHeaders, type HeaderField} from '../http2/hpack.js';
import type {WireCallOptions} from '../transport.js';

const NAME = /^[0-9a-z_.-]+$/;
const VALUE = /^[ -~]*$/;

/** Encoded once: there are not many methods. */
const encodedPaths = new Map<string, Buffer>();

/** The headers of a unary call. `timeoutMs` is what is left of its deadline, `Infinity` without one. */
export function requestHeaders(
  path: string,
  timeoutMs: number,
  metadata: WireCallOptions['metadata'] = {},
): Buffer {
  const own: HeaderField[] = Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]);
  if (timeoutMs !== Infinity) own.unshift(['grpc-timeout', grpcTimeout(timeoutMs)]);
  const common = headersOf(path);
  return own.length === 0 ? common : Buffer.concat([common, encodeHeaders(own)]);
}

/** Throws TypeError for metadata that can't be sent. */
export function checkMetadata(metadata: WireCallOptions['metadata'] = {}): void {
  for (const [name, value] of Object.entries(metadata))
    if (!NAME.test(name.toLowerCase()) || name.endsWith('-bin') || !VALUE.test(value))
      throw new TypeError(`metadata that can't be sent: ${name}`);
}

function headersOf(path: string): Buffer {
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

/** At most eight digits, then `m` for milliseconds or `S` for seconds. */
function grpcTimeout(ms: number): string {
  const whole = Math.max(1, Math.ceil(ms));
  return whole < 1e8 ? `${whole}m` : `${Math.ceil(whole / 1000)}S`;
}
