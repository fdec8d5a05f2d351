/** Encodes numbers as 32-bit unsigned integers in network byte order. */
export function uint32(...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => buffer.writeUInt32BE(value >>> 0, 4 * index));
  return buffer;
}
