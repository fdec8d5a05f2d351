import {SystemError} from '../errors.js';
import {compressionOf} from './compression.js';

/** Size of the blocks of an archive in bytes. */
export const TAR_BLOCK = 512;

/** Fields of a member's header: POSIX.1 ustar, with GNU's numbers in base 256. */
export interface TarHeader {
  /** Type flag: `0` is a file, `5` a directory, `x` the extended header of the next member. */
  readonly type: string;
  readonly name: Buffer;
  readonly linkName: Buffer;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** In seconds since the epoch. */
  readonly mtime: number;
  readonly major: number;
  readonly minor: number;
}

/** An archive that is damaged or uses a feature that is not supported. */
export class TarError extends SystemError {
  override readonly name = 'TarError';
}

/** Offset and size of the fields (tar(5)). */
const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  linkName: [157, 100],
  magic: [257, 8],
  major: [329, 8],
  minor: [337, 8],
  prefix: [345, 155],
} as const satisfies Record<string, readonly [number, number]>;

type Field = keyof typeof FIELDS;

/** Longest name and link name of a header in bytes. */
export const MAX_HEADER_NAME = FIELDS.name[1];

/** Returns the largest number that a numeric field can hold in octal. */
export function maxOctal(field: 'mode' | 'uid' | 'gid' | 'size' | 'mtime'): number {
  return 8 ** (FIELDS[field][1] - 1) - 1;
}

/** Type flags of devices, the only members with a device number. */
const DEVICES: ReadonlySet<string> = new Set(['3', '4']);

/**
 * Encodes a header. Names must fit, the name with a directory of up to 155 bytes as `prefix`. Numbers that do not fit
 * are cut, so an extended header must precede this one.
 */
export function encodeTarHeader(header: TarHeader, prefix = ''): Buffer {
  const block = Buffer.alloc(TAR_BLOCK);
  const put = (field: Field, bytes: Buffer): void => {
    bytes.copy(block, FIELDS[field][0], 0, FIELDS[field][1]);
  };
  const putNumber = (field: Field, value: number): void => {
    const digits = FIELDS[field][1] - 1;
    const fitting = Math.min(Math.max(Math.floor(value), 0), 8 ** digits - 1);
    put(field, Buffer.from(`${fitting.toString(8).padStart(digits, '0')}\0`));
  };
  put('name', header.name);
  put('linkName', header.linkName);
  put('type', Buffer.from(header.type));
  put('magic', Buffer.from('ustar\u000000'));
  put('prefix', Buffer.from(prefix));
  for (const field of ['mode', 'uid', 'gid', 'size', 'mtime'] as const) putNumber(field, header[field]);
  if (DEVICES.has(header.type))
    for (const field of ['major', 'minor'] as const) putNumber(field, header[field]);
  put('checksum', Buffer.from(`${checksum(block).toString(8).padStart(6, '0')}\0 `));
  return block;
}

/**
 * Decodes a header; undefined for the block of zeros that ends an archive. Throws TarError for a block that is not a
 * header.
 */
export function decodeTarHeader(block: Buffer): TarHeader | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (numberOf(block, 'checksum') !== checksum(block)) throw notAnArchive(block);
  const prefix = isUstar(block) ? textOf(block, 'prefix') : Buffer.alloc(0);
  const name = textOf(block, 'name');
  return {
    type: block.toString('latin1', FIELDS.type[0], FIELDS.type[0] + 1),
    name: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]),
    linkName: textOf(block, 'linkName'),
    mode: numberOf(block, 'mode'),
    uid: numberOf(block, 'uid'),
    gid: numberOf(block, 'gid'),
    size: numberOf(block, 'size'),
    mtime: numberOf(block, 'mtime'),
    major: numberOf(block, 'major'),
    minor: numberOf(block, 'minor'),
  };
}

function notAnArchive(block: Buffer): TarError {
  const compression = compressionOf(block);
  if (compression === undefined) return new TarError('the input is not a tar archive, or it is damaged');
  return new TarError(`the archive is compressed with ${compression}`, {
    hint: `decompress it first: ${compression} -dc ARCHIVE | kcri cp - CONTAINER:DIRECTORY`,
  });
}

/** Sum of the header's bytes, with the checksum itself counted as spaces. */
function checksum(block: Buffer): number {
  const [start, size] = FIELDS.checksum;
  let sum = size * 0x20;
  for (const [index, byte] of block.entries()) if (index < start || index >= start + size) sum += byte;
  return sum;
}

/** Reports whether the header has a prefix, where that of GNU tar has other fields. */
function isUstar(block: Buffer): boolean {
  return block.toString('latin1', FIELDS.magic[0], FIELDS.magic[0] + 6) === 'ustar\0';
}

function bytesOf(block: Buffer, field: Field): Buffer {
  const [start, size] = FIELDS[field];
  return block.subarray(start, start + size);
}

/** Returns a copy of a text, which ends at the first NUL. */
function textOf(block: Buffer, field: Field): Buffer {
  const bytes = bytesOf(block, field);
  const end = bytes.indexOf(0);
  return Buffer.from(end < 0 ? bytes : bytes.subarray(0, end));
}

function numberOf(block: Buffer, field: Field): number {
  const bytes = bytesOf(block, field);
  const value = ((bytes[0] ?? 0) & 0x80) === 0 ? octalOf(bytes) : base256Of(bytes);
  if (Number.isSafeInteger(value)) return value;
  throw new TarError(`the archive is damaged: invalid ${field} in a header`);
}

function octalOf(bytes: Buffer): number {
  const [digits = ''] = /^[ \0]*([0-7]*)/.exec(bytes.toString('latin1'))?.slice(1) ?? [];
  return digits === '' ? 0 : parseInt(digits, 8);
}

/** Decodes GNU's form of large and negative numbers. Sizes are never negative. */
function base256Of(bytes: Buffer): number {
  const isNegative = bytes[0] === 0xff;
  const [first = 0, ...rest] = bytes;
  const value = rest.reduce(
    (sum, byte) => sum * 256 + (isNegative ? 255 - byte : byte),
    first & 0x7f & (isNegative ? 0 : 0x7f),
  );
  return isNegative ? -(value + 1) : value;
}
