// The subset of DER (X.690) that certificates need. Each function returns one complete value with tag and length.

import {formatRfc3339Seconds} from '../time.js';

const TAGS = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

export function sequence(...items: readonly Buffer[]): Buffer {
  return tagged(TAGS.sequence, Buffer.concat(items));
}

export function set(...items: readonly Buffer[]): Buffer {
  return tagged(TAGS.set, Buffer.concat(items));
}

/** Encodes a non-negative integer, given most significant byte first. */
export function integer(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const significant = start === -1 ? Buffer.of(0) : Buffer.from(bytes.subarray(start));
  const isHigh = (significant[0] ?? 0) >= 0x80;
  return tagged(TAGS.integer, isHigh ? Buffer.concat([Buffer.of(0), significant]) : significant);
}

export function boolean(value: boolean): Buffer {
  return tagged(0x01, Buffer.of(value ? 0xff : 0));
}

/** Encodes a bit string, with `unusedBits` unused bits in its last byte. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return tagged(TAGS.bitString, Buffer.concat([Buffer.of(unusedBits), bytes]));
}

export function octetString(bytes: Uint8Array): Buffer {
  return tagged(TAGS.octetString, bytes);
}

export function utf8String(text: string): Buffer {
  return tagged(TAGS.utf8String, Buffer.from(text));
}

/** Encodes an object identifier in dotted notation, such as `2.5.4.3`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return tagged(TAGS.objectIdentifier, Buffer.from([first * 40 + second, ...others.flatMap(base128)]));
}

function base128(value: number): readonly number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128))
    digits.unshift((rest % 128) + 128);
  return digits;
}

/** Encodes a time, in ms since the epoch, in whole seconds: UTCTime until 2049, GeneralizedTime later (RFC 5280). */
export function time(ms: number): Buffer {
  const digits = formatRfc3339Seconds(ms).replace(/[-:T]/g, '');
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(TAGS.utcTime, Buffer.from(digits.slice(2)))
    : tagged(TAGS.generalizedTime, Buffer.from(digits));
}

/** Encodes a value with a context-specific tag; a `constructed` value contains other values. */
export function context(number: number, content: Uint8Array, constructed = true): Buffer {
  return tagged((constructed ? 0xa0 : 0x80) | number, content);
}

function tagged(tag: number, content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
