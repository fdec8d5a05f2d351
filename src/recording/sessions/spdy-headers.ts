import {constants, inflateSync} from 'node:zlib';

/** Words that SPDY/3.1 starts its header compression with, each with its length in four bytes before it. */
const WORDS =
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow ' +
  'authorization cache-control connection content-base content-encoding content-language content-length ' +
  'content-location content-md5 content-range content-type date etag expect expires from host if-match ' +
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma ' +
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade ' +
  'user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie ' +
  'keep-alive origin';
/** Text after the words (SPDY/3.1, 2.6.10.1). */
const TEXT =
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative ' +
  'Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 Internal ' +
  'Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, ' +
  'Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,' +
  'text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.';

/** Maximum length of all header blocks of a connection, compressed and decompressed, in bytes. */
const MAX_COMPRESSED = 256 * 1024;
const MAX_HEADERS = 4 * 1024 * 1024;

/** Returns the dictionary that clients may compress headers with; its Adler-32 is e3c6a7c2. */
export function spdyDictionary(): Buffer {
  const words = WORDS.split(' ').map((word) => withLength(word.replace('_', ' ')));
  return Buffer.concat([...words, Buffer.from(TEXT)]);
}

function withLength(word: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(word.length);
  return Buffer.concat([length, Buffer.from(word)]);
}

/**
 * Reads the header blocks that one side of a connection sends, which form one zlib stream. It is decompressed from its start
 * for each block: Node.js has no other synchronous way, and sessions open few streams.
 */
export class SpdyHeaderReader {
  #compressed = Buffer.alloc(0);
  #readLength = 0;
  #dictionary: Buffer | undefined;
  #hasFailed = false;

  /** Returns the headers of the next block; undefined if it, or one before it, cannot be read. */
  read(block: Buffer): Readonly<Record<string, string>> | undefined {
    this.#hasFailed ||= this.#compressed.length + block.length > MAX_COMPRESSED;
    if (this.#hasFailed) return undefined;
    this.#compressed = Buffer.concat([this.#compressed, block]);
    this.#dictionary ??= spdyDictionary();
    try {
      const all = inflateSync(this.#compressed, {
        dictionary: this.#dictionary,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: MAX_HEADERS,
      });
      const headers = parseHeaders(all.subarray(this.#readLength));
      this.#readLength = all.length;
      return headers;
    } catch {
      this.#hasFailed = true; // what follows depends on this block
      return undefined;
    }
  }
}

/** Throws RangeError if the block is truncated. */
function parseHeaders(block: Buffer): Readonly<Record<string, string>> {
  let at = 4;
  const word = (): string => {
    const length = block.readUInt32BE(at);
    if (at + 4 + length > block.length) throw new RangeError('a truncated header');
    at += 4 + length;
    return block.toString('utf8', at - length, at);
  };
  const headers: [string, string][] = [];
  for (let left = block.readUInt32BE(0); left > 0; left -= 1) headers.push([word(), word()]);
  return Object.fromEntries(headers);
}
