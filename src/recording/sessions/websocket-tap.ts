import {StreamingError} from '../../streaming/session/errors.js';
import type {Side} from '../tap/connection-tap.js';
import type {ProtocolTap, SessionSink, StreamLabel} from './session-sink.js';

/** Streams of the channels of an exec or attach session (remotecommand's subprotocols). */
const STREAMS = ['stdin', 'stdout', 'stderr', 'error', 'resize'] as const;
/** Channel of v5.channel.k8s.io whose messages name a channel that their sender closes. */
const CLOSE_CHANNEL = 255;
/** Code of the digit 0: subprotocols with base64 name channels by digits. */
const DIGIT_0 = 0x30;

/** Reads along on a WebSocket with the channels of Kubernetes' subprotocols. */
export class WebSocketTap implements ProtocolTap {
  readonly isUnreadable = false;
  readonly #readers: Readonly<Record<Side, WebSocketReader>>;
  readonly #sink: SessionSink;
  readonly #forwardsPorts: boolean;
  /** Ports of the channels of a forwarding, which the first message on each has from the server. */
  readonly #ports = new Map<number, number>();

  constructor(sink: SessionSink, {forwardsPorts}: {readonly forwardsPorts: boolean}) {
    this.#sink = sink;
    this.#forwardsPorts = forwardsPorts;
    const reader = (from: Side): WebSocketReader =>
      new WebSocketReader((channel, chunk) => {
        this.#receive(from, channel, chunk);
      });
    this.#readers = {client: reader('client'), server: reader('server')};
  }

  read(from: Side, chunk: Buffer): void {
    this.#readers[from].read(chunk);
  }

  #receive(from: Side, byte: number, chunk: Buffer): void {
    if (byte === CLOSE_CHANNEL) {
      for (const closed of chunk) this.#sink.onStreamEnd(this.#labelOf(closed), from);
      return;
    }
    const channel = byte >= DIGIT_0 ? byte - DIGIT_0 : byte;
    if (this.#forwardsPorts && from === 'server' && !this.#ports.has(channel) && chunk.length === 2)
      this.#ports.set(channel, chunk.readUInt16LE());
    else this.#sink.onData(this.#labelOf(channel), from, chunk);
  }

  #labelOf(channel: number): StreamLabel {
    if (!this.#forwardsPorts) return {stream: STREAMS[channel] ?? `channel ${channel}`};
    const port = this.#ports.get(channel);
    return {stream: channel % 2 === 0 ? 'data' : 'error', ...(port !== undefined && {port})};
  }
}

/** Longest header of a frame, in bytes: two, the length, and the mask. */
const MAX_HEADER = 14;
const MASKED = 0x80;
const RESERVED = 0x70;
const FIRST_CONTROL_OPCODE = 8;

/** Splits what one side of a WebSocket sends into parts of messages (RFC 6455, 5.2), without collecting them. */
class WebSocketReader {
  readonly #receive: (channel: number, chunk: Buffer) => void;
  #header = Buffer.alloc(0);
  #remaining = 0;
  #mask: Buffer | undefined;
  #maskAt = 0;
  #isControl = false;
  /** First byte of the current message; undefined before it. */
  #channel: number | undefined;

  /** `receive` is called with each part of a message. */
  constructor(receive: (channel: number, chunk: Buffer) => void) {
    this.#receive = receive;
  }

  /** Throws StreamingError for a compressed frame. */
  read(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) {
      if (this.#remaining > 0) rest = this.#readPayload(rest);
      else {
        const before = this.#header.length;
        const header = Buffer.concat([this.#header, rest.subarray(0, MAX_HEADER - before)]);
        const length = this.#begin(header);
        this.#header = length === undefined ? header : Buffer.alloc(0);
        rest = rest.subarray((length ?? header.length) - before);
      }
    }
  }

  /** Returns the length of the header; undefined if it is not complete. */
  #begin(header: Buffer): number | undefined {
    if (header.length < 2) return undefined;
    const [first = 0, second = 0] = header;
    const maskAt = 2 + lengthBytesOf(second);
    const end = maskAt + ((second & MASKED) === 0 ? 0 : 4);
    if (header.length < end) return undefined;
    if ((first & RESERVED) !== 0) throw new StreamingError('the WebSocket uses an extension');
    const opcode = first & 0x0f;
    this.#isControl = opcode >= FIRST_CONTROL_OPCODE;
    // A frame with another opcode than continuation begins a message.
    if (opcode !== 0 && !this.#isControl) this.#channel = undefined;
    this.#remaining = payloadLength(header);
    this.#mask = end === maskAt ? undefined : Buffer.from(header.subarray(maskAt, end));
    this.#maskAt = 0;
    return end;
  }

  #readPayload(chunk: Buffer): Buffer {
    const part = this.#unmasked(chunk.subarray(0, this.#remaining));
    this.#remaining -= part.length;
    if (!this.#isControl) {
      const isFirst = this.#channel === undefined;
      this.#channel ??= part[0] ?? 0;
      const data = isFirst ? part.subarray(1) : part;
      if (data.length > 0) this.#receive(this.#channel, data);
    }
    return chunk.subarray(part.length);
  }

  #unmasked(part: Buffer): Buffer {
    const mask = this.#mask;
    if (mask === undefined) return part;
    const start = this.#maskAt;
    this.#maskAt = (start + part.length) % 4;
    const clear = Buffer.allocUnsafe(part.length);
    for (let index = 0; index < part.length; index += 1)
      clear[index] = (part[index] ?? 0) ^ (mask[(start + index) % 4] ?? 0);
    return clear;
  }
}

/** Returns the number of bytes of the length after the second byte of a header. */
function lengthBytesOf(second: number): number {
  const short = second & ~MASKED;
  return short === 126 ? 2 : short === 127 ? 8 : 0;
}

function payloadLength(header: Buffer): number {
  const [, second = 0] = header;
  const bytes = lengthBytesOf(second);
  if (bytes === 0) return second & ~MASKED;
  return bytes === 2 ? header.readUInt16BE(2) : Number(header.readBigUInt64BE(2));
}
