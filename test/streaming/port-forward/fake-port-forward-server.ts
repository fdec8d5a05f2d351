import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import type {Socket} from 'node:net';
import {Duplex} from 'node:stream';
import {FrameReader, type FrameHandler} from '../../../src/streaming/spdy/frame-reader.js';
import {dataHeader, FRAME} from '../../../src/streaming/spdy/frames.js';
import {listenOnLoopback} from '../../base/listen-on-loopback.js';

/** A port-forward request with its two streams and the number of its connection. */
export interface ForwardRequest {
  readonly port: number;
  readonly data: Duplex;
  readonly error: Duplex;
  /** Number of the connection, in order of arrival. */
  readonly connection: number;
  /** The underlying socket, for tests that break it. */
  readonly socket: Socket;
}

/** A streaming server that accepts port-forward requests over SPDY. */
export interface FakePortForwardServer extends AsyncDisposable {
  /** Base of the URLs; each path below it is valid once. */
  readonly base: string;
  /** Returns a new URL, as the runtime does. */
  readonly url: () => Promise<string>;
  /** Number of requested URLs. */
  readonly asked: number;
  /** Number of accepted connections. */
  readonly connections: number;
  /** Open connections. */
  readonly sockets: ReadonlySet<Socket>;
}

/** Options of the server. */
export interface FakePortForwardServerOptions {
  /** Handles each pair of streams. */
  readonly onRequest: (request: ForwardRequest) => void;
  /** Reports whether to accept the stream with the ID. Default true. */
  readonly accepts?: (connection: number, streamId: number) => boolean;
  /** HTTP status with which it refuses SPDY. */
  readonly refusal?: number;
}

/** Starts a server. URLs are valid once, like those of real servers. */
export async function startFakePortForwardServer(
  options: FakePortForwardServerOptions,
): Promise<FakePortForwardServer> {
  const http = createServer();
  const sockets = new Set<Socket>();
  const used = new Set<string>();
  const counts = {asked: 0, connections: 0};
  http.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    const path = request.url ?? '';
    const status = options.refusal ?? (used.has(path) ? 404 : 101);
    used.add(path);
    if (status !== 101) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n' +
        'X-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n',
    );
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    new ServerConnection(socket, counts.connections, options);
    counts.connections += 1;
  });
  const base = `http://127.0.0.1:${await listenOnLoopback(http)}`;
  return {
    base,
    url: async () => {
      counts.asked += 1;
      return `${base}/portforward/${counts.asked}`;
    },
    get asked() {
      return counts.asked;
    },
    get connections() {
      return counts.connections;
    },
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}

class ServerConnection implements FrameHandler {
  readonly #streams = new Map<number, ServerStream>();
  readonly #pairs = new Map<string, Map<string, Duplex>>();
  readonly #socket: Socket;
  readonly #number: number;
  readonly #options: FakePortForwardServerOptions;

  constructor(socket: Socket, number: number, options: FakePortForwardServerOptions) {
    this.#socket = socket;
    this.#number = number;
    this.#options = options;
    const reader = new FrameReader(this);
    socket.on('data', (chunk: Buffer) => {
      reader.read(chunk);
    });
    socket.on('error', () => undefined);
    socket.once('end', () => socket.end());
  }

  onData(streamId: number, chunk: Buffer): void {
    this.#streams.get(streamId)?.push(chunk);
  }

  onFin(streamId: number): void {
    this.#streams.get(streamId)?.push(null);
  }

  onControl(type: number, _flags: number, payload: Buffer): void {
    const id = payload.readUInt32BE(0);
    if (type === FRAME.rstStream) this.#streams.get(id)?.destroy();
    if (type !== FRAME.synStream) return;
    if (this.#options.accepts?.(this.#number, id) === false) return;
    const stream = new ServerStream(this.#socket, id);
    this.#streams.set(id, stream);
    const reply = Buffer.alloc(12);
    reply.writeUInt32BE(0x80030000 + FRAME.synReply, 0);
    reply.writeUInt32BE(4, 4);
    reply.writeUInt32BE(id, 8);
    this.#socket.write(reply);
    this.#join(headersOf(payload.subarray(10)), stream);
  }

  #join(headers: ReadonlyMap<string, string>, stream: ServerStream): void {
    const request = headers.get('requestid') ?? '';
    const pair = this.#pairs.get(request) ?? new Map<string, Duplex>();
    this.#pairs.set(request, pair.set(headers.get('streamtype') ?? '', stream));
    const [data, error] = [pair.get('data'), pair.get('error')];
    if (data === undefined || error === undefined) return;
    const port = Number(headers.get('port'));
    this.#options.onRequest({port, data, error, connection: this.#number, socket: this.#socket});
  }
}

class ServerStream extends Duplex {
  readonly #socket: Socket;
  readonly #id: number;

  constructor(socket: Socket, id: number) {
    super({highWaterMark: 1024 * 1024});
    this.#socket = socket;
    this.#id = id;
    // Writes to a reset stream are dropped.
    this.on('error', () => undefined);
  }

  override _read(): void {
    // It is always ready for more.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#socket.write(dataHeader(this.#id, chunk.length, false));
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.write(dataHeader(this.#id, 0, true), done);
  }
}

/** Decodes kcri's header block: a stored deflate block, after the zlib header in the first one. */
function headersOf(encoded: Buffer): ReadonlyMap<string, string> {
  const start = encoded[0] === 0x78 ? 2 : 0;
  let remaining = encoded.subarray(start + 5);
  const word = (): number => {
    const value = remaining.readUInt32BE(0);
    remaining = remaining.subarray(4);
    return value;
  };
  const text = (): string => {
    const length = word();
    const value = remaining.subarray(0, length).toString();
    remaining = remaining.subarray(length);
    return value;
  };
  return new Map(Array.from({length: word()}, () => [text(), text()]));
}

/** Handles a request whose pod responds with `answer` to any input, and ends. */
export function answering(answer: string): (request: ForwardRequest) => void {
  return ({data, error}) => {
    data.once('data', () => {
      error.end();
      data.end(answer);
    });
  };
}

/** Handles a request to a port without a listener. */
export function refusing({data, error, port}: ForwardRequest): void {
  error.end(`error forwarding port ${port}: dial tcp4 127.0.0.1:${port}: connect: connection refused`);
  data.end();
}

/** Reads a stream to its end, leaving it writable. */
export async function readAll(stream: Duplex): Promise<string> {
  let received = '';
  stream.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(stream, 'end');
  return received;
}
