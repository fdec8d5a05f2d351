/**
 * SPDY/3.1 frames as Kubernetes' streaming servers read and write them. A frame has 8 bytes in front:
 *
 *     control: 1 bit set, version (15), type (16) | flags (8), length (24)
 *     data:    1 bit clear, stream id (31)        | flags (8), length (24)
 */
export const FRAME_HEADER_LENGTH = 8;

/** The types of control frames that matter; servers send others and may be ignored. */
export const FRAME = {synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7} as const;

/** On the last frame that one side sends on a stream. */
export const FLAG_FIN = 1;

/** Why a stream is given up. */
const STATUS_CANCEL = 5;

const CONTROL = 0x80030000;

/** The longest data frame that is sent, so that no stream waits long for another's frame. */
export const MAX_DATA_LENGTH = 256 * 1024;

/** The front of a data frame; the payload follows. */
export function dataHeader(streamId: number, length: number, fin: boolean): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_LENGTH);
  header.writeUInt32BE(streamId, 0);
  header.writeUInt32BE((fin ? FLAG_FIN << 24 : 0) | length, 4);
  return header;
}

/** Opens a stream; with `fin` nothing will be sent on it. */
export function synStream(streamId: number, headerBlock: Buffer, fin = false): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt32BE(streamId, 0);
  const frame = controlFrame(FRAME.synStream, fields, headerBlock);
  if (fin) frame.writeUInt8(FLAG_FIN, 4);
  return frame;
}

/** Gives a stream up, in both directions. */
export function rstStream(streamId: number): Buffer {
  return controlFrame(FRAME.rstStream, words(streamId, STATUS_CANCEL));
}

/** Asks for, or answers with, a sign of life. */
export function ping(id: number): Buffer {
  return controlFrame(FRAME.ping, words(id));
}

function controlFrame(type: number, ...payload: readonly Buffer[]): Buffer {
  const length = payload.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([words(CONTROL + type, length), ...payload]);
}

function words(...values: readonly number[]): Buffer {
  const buffer = Buffer.allocUnsafe(4 * values.length);
  values.forEach((value, index) => buffer.writeUInt32BE(value, 4 * index));
  return buffer;
}

/**
 * Encodes the header blocks of one connection. They are one zlib stream over all of them; it may be made of
 * stored blocks, which need no compressor.
 */
export class HeaderEncoder {
  #first = true;

  encode(headers: Readonly<Record<string, string>>): Buffer {
    const pairs = Object.entries(headers).flatMap(([name, value]) => [text(name.toLowerCase()), text(value)]);
    const block = Buffer.concat([words(Object.keys(headers).length), ...pairs]);
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
/** An empty stored block: Go's reader hands out what came before only once it has seen one. */
const ZLIB_FLUSH = Buffer.from([0, 0, 0, 0xff, 0xff]);

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([words(bytes.length), bytes]);
}
