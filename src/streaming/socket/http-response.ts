import {StreamingError} from '../session/errors.js';

/** Maximum length of the head of a response in bytes, as in Node.js. */
const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_END = '\r\n\r\n';
const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: (.*))?$/;
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/;
/** Size of a chunk (RFC 9112, section 7.1), with extensions, which mean nothing here. */
const CHUNK_SIZE = /^([0-9a-f]{1,8})[ \t]*(?:;.*)?$/i;

/** Status and headers of an HTTP/1.1 response. */
export interface ResponseHead {
  readonly status: number;
  /** Reason phrase; empty if the server sends none. */
  readonly reason: string;
  /** Values by name in lower case; those of a repeated header are joined with commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** Length in bytes, with the empty line at its end. */
  readonly length: number;
}

/**
 * Parses the head of a response. Interim responses (1xx) before it count as its part. Returns undefined if bytes are
 * missing. Throws StreamingError for anything other than HTTP/1.
 */
export function parseResponseHead(bytes: Buffer, start = 0): ResponseHead | undefined {
  const end = bytes.indexOf(HEAD_END, start);
  if (end < 0) {
    if (bytes.length > MAX_HEAD_BYTES) throw new StreamingError('the head of the HTTP response is too long');
    return undefined;
  }
  const [statusLine = '', ...lines] = bytes.toString('latin1', start, end).split('\r\n');
  const [, status, reason = ''] = STATUS_LINE.exec(statusLine) ?? [];
  if (status === undefined) throw new StreamingError('the response is not HTTP/1.1');
  const length = end + HEAD_END.length;
  return isInterim(Number(status))
    ? parseResponseHead(bytes, length)
    : {status: Number(status), reason, headers: parseHeaders(lines), length};
}

/** Reports whether another response follows: 101 is the last one of a connection. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}

function parseHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value = ''] = HEADER.exec(line) ?? [];
    if (name === undefined) throw new StreamingError('the HTTP response has an invalid header');
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** Body of a response as far as it has been received. */
export interface ResponseBody {
  readonly content: Buffer;
  /** True if nothing more belongs to it; without a length, it ends with the connection. */
  readonly isComplete: boolean;
}

/** Decodes the received bytes after a head. Bytes that are not in the announced form are part of the content. */
export function decodeResponseBody(headers: ResponseHead['headers'], bytes: Buffer): ResponseBody {
  if (/(?:^|,)\s*chunked$/i.test(headers.get('transfer-encoding') ?? '')) return decodeChunks(bytes);
  const length = headers.get('content-length');
  if (length === undefined || !/^\d{1,15}$/.test(length)) return {content: bytes, isComplete: false};
  return {content: bytes.subarray(0, Number(length)), isComplete: bytes.length >= Number(length)};
}

function decodeChunks(bytes: Buffer): ResponseBody {
  const chunks: Buffer[] = [];
  for (let start = 0; ;) {
    const lineEnd = bytes.indexOf('\r\n', start);
    const [, size] = (lineEnd < 0 ? null : CHUNK_SIZE.exec(bytes.toString('latin1', start, lineEnd))) ?? [];
    const length = size === undefined ? NaN : Number.parseInt(size, 16);
    const end = lineEnd + 2 + length;
    if (!(length > 0)) return {content: Buffer.concat(chunks), isComplete: length === 0};
    chunks.push(bytes.subarray(lineEnd + 2, end));
    start = end + 2;
  }
}
