/** Maximum length of the head of a request or a response, in bytes. */
const MAX_HEAD = 64 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Head of an HTTP/1.1 request or response. */
export interface HttpHead {
  /** First line. */
  readonly start: string;
  /** Lines after the first, as they were sent. */
  readonly lines: readonly string[];
  /** Bytes after the head. */
  readonly rest: Buffer;
}

/** Collects the head of a request or a response. */
export class HttpHeadReader {
  #read = Buffer.alloc(0);

  /** Reads the next bytes. Returns the head if it is complete, `undefined` if it is not, or 'too long'. */
  push(chunk: Buffer): HttpHead | 'too long' | undefined {
    this.#read = Buffer.concat([this.#read, chunk]);
    const end = this.#read.indexOf(HEAD_END);
    if (end > MAX_HEAD || (end < 0 && this.#read.length > MAX_HEAD)) return 'too long';
    if (end < 0) return undefined;
    const [start = '', ...lines] = this.#read.toString('latin1', 0, end).split('\r\n');
    return {start, lines, rest: this.#read.subarray(end + HEAD_END.length)};
  }
}

/** Returns the value of a header; undefined without it. */
export function headerOf({lines}: HttpHead, name: string): string | undefined {
  const prefix = `${name}:`;
  const line = lines.find((each) => each.slice(0, prefix.length).toLowerCase() === prefix);
  return line?.slice(prefix.length).trim();
}

/** Returns the path of a request, with its query; undefined if the head is not that of an HTTP/1.1 request. */
export function pathOf({start}: HttpHead): string | undefined {
  return /^[A-Z]+ (\/\S*) HTTP\/1\.[01]$/.exec(start)?.[1];
}

/** Returns the status of a response; undefined if the head is not that of an HTTP/1.1 response. */
export function statusOf({start}: HttpHead): number | undefined {
  const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(start)?.[1];
  return status === undefined ? undefined : Number(status);
}

/** Formats the head of a request for another path and host. Everything else stays as it was sent. */
export function formatRequestHead(
  {start, lines}: HttpHead,
  {path, host}: {readonly path: string; readonly host: string},
): Buffer {
  const [method = ''] = start.split(' ', 1);
  const version = start.slice(start.lastIndexOf(' ') + 1);
  const changed = lines.map((line) => (/^host:/i.test(line) ? `Host: ${host}` : line));
  return Buffer.from([`${method} ${path} ${version}`, ...changed, '', ''].join('\r\n'), 'latin1');
}
