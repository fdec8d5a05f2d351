import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {createServer, type Server, type Socket} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {AsyncQueue} from '../../../src/base/async/async-queue.js';
import {uint32} from '../../base/uint32.js';
import {frame, PREFACE} from '../../../src/cri/http2/frames.js';
import {encodeHeaders, HeaderDecoder, type HeaderField} from '../../../src/cri/http2/hpack.js';
import {FLAG, FRAME} from '../../../src/cri/http2/protocol-constants.js';
import {frameMessage} from '../../../src/cri/unary/message-framing.js';

/** A frame sent by the client. */
export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** A complete request. */
export interface Request {
  readonly streamId: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const HEADERS: readonly HeaderField[] = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];
export const OK: readonly HeaderField[] = [['grpc-status', '0']];

export const END = FLAG.endStream | FLAG.endHeaders;

export const headersFrame = (id: number, fields: readonly HeaderField[], flags: number = FLAG.endHeaders) =>
  frame(FRAME.headers, flags, id, encodeHeaders(fields));
export const dataFrame = (id: number, data: Uint8Array, flags = 0) => frame(FRAME.data, flags, id, data);
/** Returns SETTINGS with pairs of number and value. */
export function settingsFrame(...pairs: readonly (readonly [setting: number, value: number])[]): Buffer {
  const payload = Buffer.alloc(6 * pairs.length);
  pairs.forEach(([setting, value], index) => {
    payload.writeUInt16BE(setting, 6 * index);
    payload.writeUInt32BE(value, 6 * index + 2);
  });
  return frame(FRAME.settings, 0, 0, payload);
}
export const goAwayFrame = (lastId: number, code = 0) => frame(FRAME.goAway, 0, 0, uint32(lastId, code));
export const resetFrame = (id: number, code: number) => frame(FRAME.rstStream, 0, id, uint32(code));
export const windowFrame = (id: number, increment: number) =>
  frame(FRAME.windowUpdate, 0, id, uint32(increment));

/** Headers, message and trailers of a successful response. */
export const headers = (id: number): Buffer => headersFrame(id, HEADERS);
export const message = (id: number, content: string | Buffer = 'message'): Buffer =>
  dataFrame(id, frameMessage(Buffer.from(content)));
export const trailers = (id: number): Buffer => headersFrame(id, OK, END);

/** Returns a successful response with one message. */
export function answer(id: number, content: string | Buffer): Buffer {
  return Buffer.concat([headers(id), message(id, content), trailers(id)]);
}

/** A client connection: reads its frames and sends what a script tells it to. */
export class PeerConnection {
  readonly socket: Socket;
  readonly #frames = new AsyncQueue<Frame>();
  readonly #decoder = new HeaderDecoder(1_000_000);
  readonly #started = new Map<number, {headers: Readonly<Record<string, string>>; parts: Buffer[]}>();
  #buffered = Buffer.alloc(0);
  #prefaceRead = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#read(chunk);
    });
    socket.on('error', () => undefined);
  }

  #read(chunk: Buffer): void {
    this.#buffered = Buffer.concat([this.#buffered, chunk]);
    if (!this.#prefaceRead && this.#buffered.length >= PREFACE.length) {
      this.#prefaceRead = true;
      this.#buffered = this.#buffered.subarray(PREFACE.length);
    }
    while (this.#prefaceRead && this.#buffered.length >= 9) {
      const length = this.#buffered.readUIntBE(0, 3);
      if (this.#buffered.length < 9 + length) return;
      this.#frames.push({
        type: this.#buffered.readUInt8(3),
        flags: this.#buffered.readUInt8(4),
        streamId: this.#buffered.readUInt32BE(5),
        payload: this.#buffered.subarray(9, 9 + length),
      });
      this.#buffered = this.#buffered.subarray(9 + length);
    }
  }

  /** Number of received frames that were not taken. */
  get unread(): number {
    return this.#frames.size;
  }

  send(...parts: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(parts));
  }

  /** Returns the next frame. All readers share one queue, so only one may wait at a time. */
  async take(): Promise<Frame> {
    return await this.#frames.next();
  }

  /** Returns the next frame of a type; frames before it are dropped. */
  async next(type: number): Promise<Frame> {
    for (;;) {
      const frame = await this.take();
      if (frame.type === type) return frame;
    }
  }

  /** Returns the next complete request. */
  async request(): Promise<Request> {
    for (;;) {
      const frame = await this.take();
      if (frame.type === FRAME.headers)
        this.#started.set(frame.streamId, {headers: await this.#headers(frame), parts: []});
      const started = this.#started.get(frame.streamId);
      if (frame.type !== FRAME.data || started === undefined) continue;
      started.parts.push(frame.payload);
      if ((frame.flags & FLAG.endStream) === 0) continue;
      this.#started.delete(frame.streamId);
      return {streamId: frame.streamId, headers: started.headers, body: Buffer.concat(started.parts)};
    }
  }

  /** Returns the headers of the next request, for scripts that read its data themselves. */
  async requestHeaders(): Promise<Pick<Request, 'streamId' | 'headers'>> {
    const frame = await this.next(FRAME.headers);
    return {streamId: frame.streamId, headers: await this.#headers(frame)};
  }

  async #headers(first: Frame): Promise<Readonly<Record<string, string>>> {
    let {flags, payload} = first;
    while ((flags & FLAG.endHeaders) === 0) {
      const more = await this.next(FRAME.continuation);
      flags = more.flags;
      payload = Buffer.concat([payload, more.payload]);
    }
    return Object.fromEntries(this.#decoder.decode(payload) ?? []);
  }
}

/** A server that runs a script for each connection instead of the protocol. */
export class ScriptedPeer implements AsyncDisposable {
  readonly #server: Server;
  readonly #directory: string;
  readonly connections: PeerConnection[] = [];
  readonly failures: unknown[] = [];

  private constructor(server: Server, directory: string) {
    this.#server = server;
    this.#directory = directory;
  }

  /** Starts a server. Each connection uses the next script; the last one is used for all further connections. */
  static async start(...scripts: readonly ((peer: PeerConnection) => unknown)[]): Promise<ScriptedPeer> {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-peer-'));
    const server = createServer();
    const peer = new ScriptedPeer(server, directory);
    server.on('connection', (socket) => {
      const connection = new PeerConnection(socket);
      peer.connections.push(connection);
      const script = scripts[Math.min(peer.connections.length, scripts.length) - 1];
      Promise.resolve(script?.(connection)).catch((error: unknown) => peer.failures.push(error));
    });
    server.listen(join(directory, 'peer.sock'));
    await once(server, 'listening');
    return peer;
  }

  get endpoint(): string {
    return `unix://${this.#directory}/peer.sock`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const {socket} of this.connections) socket.destroy();
    this.#server.close();
    await rm(this.#directory, {recursive: true});
  }
}
