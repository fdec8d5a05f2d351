/** Programs that compress files, with the numbers at the start of theirs. */
const MAGIC_NUMBERS = [
  ['gzip', '1f8b'],
  ['bzip2', '425a68'],
  ['xz', 'fd377a585a00'],
  ['zstd', '28b52ffd'],
] as const;

/** Name of a program that compresses files. */
export type Compression = (typeof MAGIC_NUMBERS)[number][0];

/** Number of bytes at the start of a file that show its compression. */
export const MAGIC_BYTES = 6;

/** Returns the compression of a file by its first bytes; undefined if none is known. */
export function compressionOf(start: Uint8Array): Compression | undefined {
  const hex = Buffer.from(start.subarray(0, MAGIC_BYTES)).toString('hex');
  return MAGIC_NUMBERS.find(([, magic]) => hex.startsWith(magic))?.[0];
}
