import {createServer, type AddressInfo, type Socket} from 'node:net';
import {createInflate, constants} from 'node:zlib';
import {uint32} from '../../base/uint32.js';

/** Options of the server. */
export interface StreamingServerOptions {
  /** Handles a session after its streams were opened. The session ends when it returns. */
  readonly handleSession?: (session: ServerSession) => Promise<void> | void;
  /** HTTP response in place of the protocol switch. */
  readonly errorResponse?: {readonly status: number; readonly body: string};
  /** Protocol in the response, by default the first offered one. */
  readonly protocol?: string;
  /** Wraps the socket of each connection, for example with TLS. */
  readonly wrapSocket?: (socket: Socket) => Socket;
}

/** The server's side of a stream. */
export class ServerStream {
  readonly headers: Readonly<Record<string, string>>;
  readonly #session: ServerSession;
  readonly #id: number;
  readonly #chunks: Buffer[] = [];
  #waiting: (() => void)[] = [];
  isEnded = false;
  isReset = false;

  constructor(session: ServerSession, id: number, headers: Readonly<Record<string, string>>) {
    this.#session = session;
    this.#id = id;
    this.headers = headers;
  }

  send(data: string | Buffer): void {
    const payload = Buffer.from(data);
    this.#session.sendRaw(Buffer.concat([frameHeader(this.#id, 0, payload.length), payload]));
  }

  fin(): void {
    this.#session.sendRaw(frameHeader(this.#id, 1, 0));
  }

  reset(): void {
    this.#session.sendRaw(control(3, uint32(this.#id, 5)));
  }

  /** All received data as text. */
  get received(): string {
    return Buffer.concat(this.#chunks).toString();
  }

  /** Resolves when the received text satisfies the condition. */
  async waitUntil(condition: (text: string, stream: ServerStream) => boolean): Promise<void> {
    while (!condition(this.received, this))
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
  }

  receive(payload: Buffer, fin: boolean): void {
    this.#chunks.push(payload);
    this.isEnded ||= fin;
    this.wake();
  }

  wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** A client's connection. */
export class ServerSession {
  readonly request: string;
  /** Streams by type, in the order they were opened. */
  readonly streams = new Map<string, ServerStream>();
  readonly #byId = new Map<number, ServerStream>();
  readonly #socket: Socket;
  readonly #inflate = createInflate({finishFlush: constants.Z_SYNC_FLUSH});
  #kept = Buffer.alloc(0);
  /** IDs of received ping replies. */
  readonly pongs: number[] = [];

  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;

  constructor(socket: Socket, request: string) {
    this.#socket = socket;
    this.request = request;
    this.closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
  }

  stream(type: string): ServerStream {
    const stream = this.streams.get(type);
    if (stream === undefined) throw new Error(`the client has not opened the stream "${type}"`);
    return stream;
  }

  sendRaw(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Number of bytes not read by the client yet. */
  get unsentLength(): number {
    return this.#socket.writableLength;
  }

  ping(id: number): void {
    this.sendRaw(control(6, uint32(id)));
  }

  goAway(): void {
    this.sendRaw(control(7, uint32(0, 0)));
  }

  /** Stops reading. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Ends the connection regularly. */
  end(): void {
    this.#socket.end();
  }

  /** Ends the connection after all data is sent, regardless of unread data, so that the system resets it. */
  hangUp(): void {
    this.#socket.pause();
    this.#socket.destroySoon();
  }

  /** Destroys the connection, like a crash. */
  crash(): void {
    this.#socket.resetAndDestroy();
  }

  /** Sends a process's result like Kubernetes' servers. */
  sendExitCode(exitCode: number): void {
    for (const type of ['stdout', 'stderr']) this.streams.get(type)?.fin();
    this.sendStatus(
      exitCode === 0
        ? {status: 'Success'}
        : {
            status: 'Failure',
            reason: 'NonZeroExitCode',
            message: `command terminated with non-zero exit code: exit status ${exitCode}`,
            details: {causes: [{reason: 'ExitCode', message: String(exitCode)}]},
          },
    );
  }

  sendStatus(status: object | string): void {
    const error = this.stream('error');
    error.send(typeof status === 'string' ? status : JSON.stringify(status));
    error.fin();
    this.goAway();
    this.end();
  }

  async receive(chunk: Buffer): Promise<void> {
    this.#kept = Buffer.concat([this.#kept, chunk]);
    while (this.#kept.length >= 8) {
      const length = this.#kept.readUIntBE(5, 3);
      if (this.#kept.length < 8 + length) return;
      const frame = this.#kept.subarray(0, 8 + length);
      this.#kept = this.#kept.subarray(8 + length);
      await this.#frame(frame.readUInt32BE(0), frame.readUInt8(4), frame.subarray(8));
    }
  }

  async #frame(first: number, flags: number, payload: Buffer): Promise<void> {
    if (first < 0x80000000) {
      this.#byId.get(first)?.receive(payload, (flags & 1) !== 0);
      return;
    }
    const [type, id] = [first & 0xffff, payload.readUInt32BE(0)];
    if (type === 1) await this.#opened(id, payload.subarray(10));
    if (type === 3) this.#reset(id);
    if (type === 6) this.pongs.push(id);
  }

  async #opened(id: number, block: Buffer): Promise<void> {
    const headers = parseHeaders(await this.#inflated(block));
    const stream = new ServerStream(this, id, headers);
    this.streams.set(headers['streamtype'] ?? '', stream);
    this.#byId.set(id, stream);
    this.sendRaw(control(2, uint32(id)));
  }

  #reset(id: number): void {
    const stream = this.#byId.get(id);
    if (stream === undefined) return;
    stream.isReset = true;
    stream.wake();
  }

  /** Decompresses header blocks, which form one zlib stream. */
  async #inflated(block: Buffer): Promise<Buffer> {
    return await new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const collect = (piece: Buffer): void => void chunks.push(piece);
      this.#inflate.on('data', collect).once('error', reject);
      this.#inflate.write(block, () => {
        this.#inflate.off('data', collect).off('error', reject);
        resolve(Buffer.concat(chunks));
      });
    });
  }
}

/** A runtime's streaming server with scripted sessions. */
export class FakeStreamingServer implements AsyncDisposable {
  readonly #server;
  readonly #sockets = new Set<Socket>();
  readonly sessions: ServerSession[] = [];

  private constructor(options: StreamingServerOptions) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      void this.#serve(options.wrapSocket?.(socket) ?? socket, options);
    });
  }

  static async start(options: StreamingServerOptions = {}): Promise<FakeStreamingServer> {
    const server = new FakeStreamingServer(options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(
    socket: Socket,
    {handleSession, errorResponse, protocol}: StreamingServerOptions,
  ): Promise<void> {
    socket.on('error', () => undefined);
    const {head, rest} = await requestOf(socket);
    const offered = /^x-stream-protocol-version: (.*)$/im.exec(head)?.[1]?.split(', ') ?? [];
    if (errorResponse !== undefined) {
      const {status, body} = errorResponse;
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      return;
    }
    const chosen = protocol ?? offered[0] ?? '';
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${chosen}\r\n\r\n`,
    );
    const session = new ServerSession(socket, head);
    this.sessions.push(session);
    let started = handleSession === undefined;
    let taken = session.receive(rest);
    const onChunk = (chunk: Buffer): void => {
      taken = taken.then(async () => {
        await session.receive(chunk);
        if (!started && session.streams.size > 0) {
          started = true;
          void Promise.resolve(handleSession?.(session));
        }
      });
    };
    onChunk(Buffer.alloc(0));
    socket.on('data', onChunk);
  }
}

async function requestOf(socket: Socket): Promise<{head: string; rest: Buffer}> {
  return await new Promise((resolve) => {
    let read = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      read = Buffer.concat([read, chunk]);
      const end = read.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onData);
      resolve({head: read.subarray(0, end).toString(), rest: read.subarray(end + 4)});
    };
    socket.on('data', onData);
  });
}

function parseHeaders(block: Buffer): Readonly<Record<string, string>> {
  let offset = 4;
  const word = (): string => {
    const length = block.readUInt32BE(offset);
    offset += 4 + length;
    return block.toString('utf8', offset - length, offset);
  };
  return Object.fromEntries(Array.from({length: block.readUInt32BE(0)}, () => [word(), word()] as const));
}

/** Returns the header of a data frame. */
export function frameHeader(id: number, flags: number, length: number): Buffer {
  return uint32(id, flags * 0x1000000 + length);
}

/** Returns a control frame of SPDY/3.1. */
export function control(type: number, payload: Buffer): Buffer {
  return Buffer.concat([uint32(0x80030000 + type, payload.length), payload]);
}
