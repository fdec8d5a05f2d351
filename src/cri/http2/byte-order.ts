/*
 * Numbers in network byte order, and bytes. In a short command, compiling the functions of Buffer for them takes longer than
 * all of its frames.
 */

/** Returns the unsigned 32-bit number at an offset. */
export function readUint32(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16);
  return (high | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0)) >>> 0;
}

/** Writes an unsigned 32-bit number at an offset. */
export function writeUint32(target: Uint8Array, at: number, value: number): void {
  target[at] = value >>> 24;
  target[at + 1] = value >>> 16;
  target[at + 2] = value >>> 8;
  target[at + 3] = value;
}

/** Joins bytes, as Buffer.concat does. */
export function joinBytes(parts: readonly ArrayLike<number>[]): Buffer {
  const joined = Buffer.allocUnsafe(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
