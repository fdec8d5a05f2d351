/**
 * Buffer functions for one encoding that Node.js and Bun have but do not document. The documented ones (`toString`,
 * `write`) call them; for short texts, checking the arguments takes as long as the conversion.
 */
export interface NativeBuffer extends Buffer {
  utf8Slice(start: number, end: number): string;
  latin1Slice(): string;
  hexSlice(): string;
  latin1Write(text: string, start: number): number;
}
