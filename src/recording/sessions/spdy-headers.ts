import {constants, inflateRawSync} from 'node:zlib';

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

/** Length of the data that compressed data may refer back to, in bytes (RFC 1951). */
const WINDOW_BYTES = 32 * 1024;
/** Maximum length of a decompressed header block, in bytes. */
const MAX_HEADERS = 256 * 1024;
/** Flag of a zlib header that the name of a dictionary follows, and that of SPDY/3.1's: its Adler-32 (RFC 1950). */
const HAS_DICTIONARY = 0x20;
const DICTIONARY_NAME = 0xe3c6a7c2;
/** End of compressed data that is flushed to a whole byte. */
const FLUSHED = Buffer.from([0, 0, 0xff, 0xff]);

/** Returns the dictionary that clients may compress headers with. */
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
 * Reads the header blocks that one side of a connection sends, which form one zlib stream. Each block ends at a whole byte, so
 * that it is decompressed on its own, with the data before it as the dictionary.
 */
export class SpdyHeaderReader {
  /** Last decompressed data; undefined before the first block. */
  #window: Buffer | undefined;
  #hasFailed = false;

  /** True if a block could not be read; those after it, which depend on it, are not read. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** Returns the headers of the next block; undefined if it, or one before it, cannot be read. */
  read(block: Buffer): Readonly<Record<string, string>> | undefined {
    if (this.#hasFailed) return undefined;
    try {
      if (!block.subarray(-FLUSHED.length).equals(FLUSHED)) throw new RangeError('a truncated block');
      const start = this.#window === undefined ? zlibHeaderLength(block) : 0;
      const window = this.#window ?? initialWindow(block);
      const headers = inflateRawSync(block.subarray(start), {
        dictionary: window,
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: MAX_HEADERS,
      });
      this.#window = Buffer.concat([window, headers]).subarray(-WINDOW_BYTES);
      return parseHeaders(headers);
    } catch {
      this.#hasFailed = true;
      return undefined;
    }
  }
}

/** Returns the length of a zlib stream's header, in bytes. Throws RangeError if it is truncated. */
function zlibHeaderLength(start: Buffer): number {
  return (start.readUInt8(1) & HAS_DICTIONARY) === 0 ? 2 : 6;
}

/** Returns the data that a zlib stream starts with. Throws RangeError if it names an unknown dictionary. */
function initialWindow(start: Buffer): Buffer {
  if (zlibHeaderLength(start) === 2) return Buffer.alloc(0);
  if (start.readUInt32BE(2) !== DICTIONARY_NAME) throw new RangeError('an unknown dictionary');
  return spdyDictionary();
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
