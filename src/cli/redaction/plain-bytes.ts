import {isSpecialName, LONGEST_SPECIAL_NAME, LONGEST_TEXT, STREAMING_WORDS} from './mask-secrets.js';

const PLAIN = 1;
const SLASH = 2;
/** Kind of each byte; 0 for those that may belong to a secret, that JSON escapes, or that are not printable ASCII. */
const KINDS = Uint8Array.from({length: 256}, (_, byte) => {
  if (byte < 0x20 || byte > 0x7e || '="\\'.includes(String.fromCharCode(byte))) return 0;
  return byte === 0x2f ? SLASH : PLAIN;
});
/** First bytes of the words of streaming URLs, by the distance of the slashes around them. */
const STREAMING_STARTS: ReadonlyMap<number, number> = new Map(
  STREAMING_WORDS.map((word) => [word.length + 1, word.charCodeAt(0)]),
);

/**
 * Reports whether a text is certainly left as it is by `maskSecrets`, and by JSON but for its quotes. Most texts of a runtime
 * are; they need not be decoded.
 */
export function isPlainText(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > LONGEST_TEXT) return false;
  let slash = start;
  for (let at = start; at < end; at += 1) {
    const kind = KINDS[bytes[at] ?? 0];
    if (kind === PLAIN) continue;
    if (kind !== SLASH || STREAMING_STARTS.get(at - slash) === bytes[slash + 1]) return false;
    slash = at;
  }
  return true;
}

/** Reports whether `maskSecrets` treats a member of that name, and its object, as those of any other name. */
export function isPlainName(bytes: Buffer, start: number, end: number): boolean {
  return end - start > LONGEST_SPECIAL_NAME || !isSpecialName(bytes.toString('latin1', start, end));
}
