/** First of the lone surrogates that stand for bytes that are not UTF-8; valid text never contains them. */
const ESCAPES = 0xdc00;

/** Converts bytes to a text that `textToBytes` converts back, even if they are not UTF-8. */
export function bytesToText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString();
  if (Buffer.from(text).equals(buffer)) return text;
  // One character per byte first; then UTF-8 sequences are decoded and the rest is escaped.
  return buffer
    .toString('latin1')
    .replace(
      /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g,
      decodeSequence,
    );
}

function decodeSequence(sequence: string): string {
  const bytes = Buffer.from(sequence, 'latin1');
  const text = bytes.toString();
  if (Buffer.from(text).equals(bytes)) return text;
  return [...bytes].map((byte) => String.fromCharCode(ESCAPES + byte)).join('');
}

/** Encodes the text as UTF-8; escapes made by `bytesToText` become their original bytes. */
export function textToBytes(text: string): Buffer {
  const parts = text.split(/([\udc80-\udcff])(?<![\ud800-\udbff][\udc80-\udcff])/);
  return Buffer.concat(
    parts.map((part, index) =>
      index % 2 === 0 ? Buffer.from(part) : Buffer.of(part.charCodeAt(0) - ESCAPES),
    ),
  );
}
