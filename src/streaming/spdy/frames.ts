/**
 * Length of a frame header of SPDY/3.1, in bytes. This module has the frames that Kubernetes' streaming servers use.
 */
export const FRAME_HEADER_LENGTH = 8;

/** Types of the control frames in use; others may be ignored. */
export const FRAME = {synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7} as const;

/** Flag of the last frame that one side sends on a stream. */
export const FLAG_FIN = 1;

/** Status of a canceled stream. */
const STATUS_CANCEL = 5;

const CONTROL = 0x80030000;

/** Maximum length of a data frame, in bytes, so that streams do not wait long for each other. */
export const MAX_DATA_LENGTH = 256 * 1024;

/** Returns the header of a data frame. */
export function dataHeader(streamId: number, length: number, fin: boolean): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_LENGTH);
  header.writeUInt32BE(streamId, 0);
  header.writeUInt32BE((fin ? FLAG_FIN << 24 : 0) | length, 4);
  return header;
}

/** Returns a frame that opens a stream; with `fin`, this side will send nothing on it. */
export function synStream(streamId: number, headerBlock: Buffer, fin = false): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt32BE(streamId, 0);
  const frame = controlFrame(FRAME.synStream, fields, headerBlock);
  if (fin) frame.writeUInt8(FLAG_FIN, 4);
  return frame;
}

/** Returns a frame that resets a stream in both directions. */
export function rstStream(streamId: number): Buffer {
  return controlFrame(FRAME.rstStream, uint32s(streamId, STATUS_CANCEL));
}

/** Returns a ping frame, or the reply to one. */
export function ping(id: number): Buffer {
  return controlFrame(FRAME.ping, uint32s(id));
}

function controlFrame(type: number, ...payload: readonly Buffer[]): Buffer {
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([uint32s(CONTROL + type, length), ...payload]);
}

function uint32s(...values: readonly number[]): Buffer {
  const buffer = Buffer.allocUnsafe(4 * values.length);
  values.forEach((value, index) => buffer.writeUInt32BE(value, 4 * index));
  return buffer;
}

/**
 * Encodes the header blocks of one connection, which form a single zlib stream. It consists of stored blocks, which
 * need no compressor.
 */
export class HeaderEncoder {
  #first = true;

  encode(headers: Readonly<Record<string, string>>): Buffer {
    const pairs = Object.entries(headers).flatMap(([name, value]) => [text(name.toLowerCase()), text(value)]);
    const block = Buffer.concat([uint32s(Object.keys(headers).length), ...pairs]);
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(block.length, 1);
    stored.writeUInt16LE(block.length ^ 0xffff, 3);
    const start = this.#first ? ZLIB_START : EMPTY;
    this.#first = false;
    return Buffer.concat([start, stored, block, ZLIB_FLUSH]);
  }
}

const EMPTY = Buffer.alloc(0);
const ZLIB_START = Buffer.from([0x78, 0x01]);
/** Empty stored block: Go's reader only returns preceding data after reading one. */
const ZLIB_FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32s(bytes.length), bytes]);
}
