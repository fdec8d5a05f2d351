/**
 * A buffer's functions for one encoding, of which Node.js' documents don't tell but which it and Bun have. What is in the
 * documents (`toString`, `write`) calls them and takes as long to look at its arguments, for short texts.
 */
export interface NativeBuffer extends Buffer {
  utf8Slice(start: number, end: number): string;
  latin1Write(text: string, start: number): number;
}
