import {joinBytes, writeUint32} from './byte-order.js';
import {DEFAULT_MAX_FRAME_SIZE, FLAG, FRAME, FRAME_HEADER_LENGTH, SETTING} from './protocol-constants.js';

/** The client's connection preface. */
export const PREFACE = joinBytes(
  Array.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', (char) => [char.charCodeAt(0)]),
);

/** Acknowledgement of the peer's settings. */
export const SETTINGS_ACK = frame(FRAME.settings, FLAG.ack, 0, Buffer.allocUnsafe(0));

/** Returns a frame with its payload. */
export function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_LENGTH + payload.length);
  writeFrameHeader(bytes, {type, flags, streamId, length: payload.length});
  bytes.set(payload, FRAME_HEADER_LENGTH);
  return bytes;
}

/** Returns the header of a frame whose payload is sent separately. */
export function frameHeader(type: number, flags: number, streamId: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_LENGTH);
  writeFrameHeader(bytes, {type, flags, streamId, length});
  return bytes;
}

/** Returns a SETTINGS frame with the values that differ from HTTP/2's defaults. */
export function settings(values: Partial<Record<keyof typeof SETTING, number>>): Buffer {
  const entries = Object.entries(values) as [keyof typeof SETTING, number][];
  const payload = Buffer.allocUnsafe(6 * entries.length);
  for (const [index, [name, value]] of entries.entries()) {
    payload[6 * index] = SETTING[name] >>> 8;
    payload[6 * index + 1] = SETTING[name];
    writeUint32(payload, 6 * index + 2, value);
  }
  return frame(FRAME.settings, 0, 0, payload);
}

/**
 * Returns a WINDOW_UPDATE frame, which allows the peer to send more on a stream, or on the connection for the ID 0.
 */
export function windowUpdate(streamId: number, increment: number): Buffer {
  return frame(FRAME.windowUpdate, 0, streamId, uint32(increment));
}

/** Returns a RST_STREAM frame. */
export function rstStream(streamId: number, code: number): Buffer {
  return frame(FRAME.rstStream, 0, streamId, uint32(code));
}

/** Returns the acknowledgement of a PING. */
export function pingAck(payload: Uint8Array): Buffer {
  return frame(FRAME.ping, FLAG.ack, 0, payload);
}

/**
 * Returns a GOAWAY frame. `lastStreamId` is the last stream of the peer that is still processed: 0 from a client, since
 * servers open no streams.
 */
export function goAway(code: number, lastStreamId = 0): Buffer {
  const payload = Buffer.allocUnsafe(8);
  writeUint32(payload, 0, lastStreamId);
  writeUint32(payload, 4, code);
  return frame(FRAME.goAway, 0, 0, payload);
}

/**
 * Returns the headers of a request: a HEADERS frame, and CONTINUATION frames if they exceed the peer's frame size.
 */
export function headerFrames(streamId: number, block: Buffer, maxFrameSize = DEFAULT_MAX_FRAME_SIZE): Buffer {
  if (block.length <= maxFrameSize) return frame(FRAME.headers, FLAG.endHeaders, streamId, block);
  const frames = [frame(FRAME.headers, 0, streamId, block.subarray(0, maxFrameSize))];
  for (let start = maxFrameSize; start < block.length; start += maxFrameSize) {
    const last = start + maxFrameSize >= block.length;
    const part = block.subarray(start, start + maxFrameSize);
    frames.push(frame(FRAME.continuation, last ? FLAG.endHeaders : 0, streamId, part));
  }
  return joinBytes(frames);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  writeUint32(bytes, 0, value);
  return bytes;
}

interface FrameHeader {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly length: number;
}

function writeFrameHeader(target: Buffer, {type, flags, streamId, length}: FrameHeader): void {
  writeUint32(target, 0, length << 8);
  target[3] = type;
  target[4] = flags;
  writeUint32(target, 5, streamId);
}
