import {Duplex} from 'node:stream';

const BINARY = 0x82;
const MASKED = 0x80;

/** The content of a client's WebSocket binary messages as a byte stream. It takes over `transport`. */
export class WebSocketDuplex extends Duplex {
  readonly #transport: Duplex;
  #buffered: Buffer;

  constructor(transport: Duplex, rest: Buffer) {
    super();
    this.#transport = transport;
    this.#buffered = rest;
    transport.on('data', (chunk: Buffer) => {
      this.#buffered = Buffer.concat([this.#buffered, chunk]);
      this.#messages();
    });
    transport.on('error', () => undefined);
    transport.once('close', () => this.push(null));
    this.#messages();
    transport.resume();
  }

  override _read(): void {
    this.#transport.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const head = Buffer.alloc(14);
    head.writeUInt16BE(BINARY * 256 + MASKED + 127);
    head.writeBigUInt64BE(BigInt(chunk.length), 2);
    // A mask of four zeros leaves the data unchanged.
    this.#transport.write(Buffer.concat([head, chunk]), () => {
      done();
    });
  }

  override _final(done: () => void): void {
    this.#transport.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#transport.destroy();
    done(error);
  }

  #messages(): void {
    for (;;) {
      const payloadAt = findPayload(this.#buffered);
      if (payloadAt === undefined || this.#buffered.length < payloadAt.start + payloadAt.length) return;
      const payload = this.#buffered.subarray(payloadAt.start, payloadAt.start + payloadAt.length);
      if (this.#buffered[0] === BINARY && !this.push(Buffer.from(payload))) this.#transport.pause();
      this.#buffered = this.#buffered.subarray(payloadAt.start + payloadAt.length);
    }
  }
}

/** Returns offset and length of the payload of a server's frame; undefined if its header is incomplete. */
function findPayload(bytes: Buffer): {readonly start: number; readonly length: number} | undefined {
  if (bytes.length < 10) return bytes.length >= 2 && (bytes[1] ?? 0) < 126 ? short(bytes) : undefined;
  const length = bytes.readUInt8(1);
  if (length < 126) return short(bytes);
  return length === 126
    ? {start: 4, length: bytes.readUInt16BE(2)}
    : {start: 10, length: Number(bytes.readBigUInt64BE(2))};
}

function short(bytes: Buffer): {readonly start: number; readonly length: number} {
  return {start: 2, length: bytes.readUInt8(1)};
}
