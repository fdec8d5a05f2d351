import {isUtf8} from 'node:buffer';
import type {JsonObject} from '../../format/json.js';

/** Line of a stream, in which what resembles a secret is masked. */
export interface MaskedLine {
  readonly line: string;
  /** True if the end of the line is missing, because it was too long to be examined. */
  readonly isCut: boolean;
}

/** Masks what resembles a secret in a line, whose characters stand for bytes (latin1), as do those of the result. */
export type MaskLine = (line: string) => MaskedLine;

/**
 * Returns the members for the content of a stream: text, or base64 if it is not text. Secrets are masked in both. The content
 * ends, with the reason, at a line that is too long. Pure.
 */
export function formatContent(bytes: Buffer, maskLine: MaskLine): JsonObject {
  const lines: string[] = [];
  let isCut = false;
  for (const line of bytes.toString('latin1').split('\n')) {
    const masked = maskLine(line);
    lines.push(masked.line);
    isCut = masked.isCut;
    if (isCut) break;
  }
  const masked = Buffer.from(lines.join('\n'), 'latin1');
  const content = isCut ? masked.subarray(0, masked.length - cutCharacterLength(masked)) : masked;
  return {
    ...(isUtf8(content) ? {text: content.toString()} : {base64: content.toString('base64')}),
    ...(isCut && {contentOmitted: 'line too long'}),
  };
}

/** Returns the number of bytes of a text's last character if its end is missing; 0 if bytes are complete, or not a text. Pure. */
export function cutCharacterLength(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(3, bytes.length); length += 1) {
    const expected = characterLength(bytes[bytes.length - length] ?? 0);
    if (expected === undefined) continue;
    const isText = isUtf8(bytes.subarray(0, bytes.length - length));
    return expected > length && isText ? length : 0;
  }
  return 0;
}

/** Returns the number of bytes of a character by its first one; undefined for another of its bytes, 0 for one in no text. */
function characterLength(byte: number): number | undefined {
  if (byte < 0x80) return 1;
  if (byte < 0xc0) return undefined;
  return byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : byte < 0xf5 ? 4 : 0;
}
