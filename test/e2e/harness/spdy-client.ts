import {once} from 'node:events';
import {connect as connectTcp, type Socket} from 'node:net';
import type {Duplex} from 'node:stream';
import {connect as connectTls} from 'node:tls';
import {constants, deflateRawSync} from 'node:zlib';
import {uint32} from '../../base/uint32.js';
import {WebSocketDuplex} from './websocket-duplex.js';
import type {ClientCredentials} from './channel-client.js';

const TUNNEL = 'SPDY/3.1+portforward.k8s.io';

/** Response of a server to an upgrade request. */
export interface UpgradeResponse {
  readonly status: number;
  readonly head: string;
  readonly socket: Socket;
  /** Bytes received after the head. */
  readonly rest: Buffer;
}

/**
 * Connects to a server without verifying its certificate. The connection stays writable after the server has closed its
 * side.
 */
export async function dial(url: string, client?: ClientCredentials): Promise<Socket> {
  const {hostname, port, protocol} = new URL(url);
  const target = {host: hostname, port: Number(port), allowHalfOpen: true};
  if (protocol === 'http:') {
    const socket = connectTcp(target);
    await once(socket, 'connect');
    return socket;
  }
  const socket = connectTls({
    ...target,
    rejectUnauthorized: false,
    ...(client !== undefined && {cert: client.certificate, key: client.key}),
  });
  await once(socket, 'secureConnect');
  return socket;
}

/** Sends an HTTP upgrade request and resolves with the response. */
export async function requestUpgrade(
  url: string,
  headers: Readonly<Record<string, string>>,
  client?: ClientCredentials,
  method = 'POST',
): Promise<UpgradeResponse> {
  const socket = await dial(url, client);
  const {pathname, search, host} = new URL(url);
  const lines = Object.entries({Host: host, Connection: 'Upgrade', ...headers});
  socket.write(
    `${method} ${pathname}${search} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  let read = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, 'data')) as [Buffer];
    read = Buffer.concat([read, chunk]);
    const end = read.indexOf('\r\n\r\n');
    if (end < 0) continue;
    socket.pause();
    const head = read.subarray(0, end).toString();
    return {status: Number(/^HTTP\/1.1 (\d+)/.exec(head)?.[1]), head, socket, rest: read.subarray(end + 4)};
  }
}

/** A stream of a SpdyClient. */
export class ClientStream {
  readonly #client: SpdyClient;
  readonly #id: number;
  readonly #pieces: Buffer[] = [];
  readonly #wakers: (() => void)[] = [];
  length = 0;
  isEnded = false;

  constructor(client: SpdyClient, id: number) {
    this.#client = client;
    this.#id = id;
  }

  send(data: string | Buffer): void {
    this.#client.sendData(this.#id, Buffer.from(data), 0);
  }

  /** Ends the client's direction of the stream. */
  end(): void {
    this.#client.sendData(this.#id, Buffer.alloc(0), 1);
  }

  receive(payload: Buffer, isEnd: boolean): void {
    this.#pieces.push(payload);
    this.length += payload.length;
    this.isEnded ||= isEnd;
    for (const wake of this.#wakers.splice(0)) wake();
  }

  get text(): string {
    return Buffer.concat(this.#pieces).toString();
  }

  async waitUntil(holds: (stream: this) => boolean): Promise<void> {
    while (!holds(this)) await new Promise<void>((resolve) => this.#wakers.push(resolve));
  }

  /** Resolves with all data when the server has ended its direction. */
  async readAll(): Promise<string> {
    await this.waitUntil(({isEnded}) => isEnded);
    return this.text;
  }
}

/** A SPDY/3.1 client that shares no code with kcri's. */
export class SpdyClient {
  readonly socket: Duplex;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  readonly #streams = new Map<number, ClientStream>();
  #buffered: Buffer = Buffer.alloc(0);
  /** Remaining part of the current data frame. */
  #frame: {readonly id: number; readonly length: number; readonly isEnd: boolean} | undefined;
  #nextId = 1;

  private constructor(socket: Duplex, rest: Buffer) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        for (const stream of this.#streams.values()) stream.receive(Buffer.alloc(0), true);
        resolve();
      });
    });
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    this.#read(rest);
    socket.on('data', (chunk: Buffer) => {
      this.#read(chunk);
    });
    socket.resume();
  }

  /** Opens a connection. Rejects if the server refuses. */
  static async open(url: string, protocol: string, client?: ClientCredentials): Promise<SpdyClient> {
    const headers = {Upgrade: 'SPDY/3.1', 'X-Stream-Protocol-Version': protocol};
    const {status, head, socket, rest} = await requestUpgrade(url, headers, client);
    if (status === 101) return new SpdyClient(socket, rest);
    socket.destroy();
    throw new Error(`${head}\n${rest.toString()}`);
  }

  /** Opens a connection that is tunneled through a WebSocket, for port-forward. */
  static async openTunnel(url: string, client?: ClientCredentials): Promise<SpdyClient> {
    const headers = {
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'Sec-WebSocket-Protocol': TUNNEL,
    };
    const {status, head, socket, rest} = await requestUpgrade(url, headers, client, 'GET');
    if (status === 101 && head.includes(TUNNEL))
      return new SpdyClient(new WebSocketDuplex(socket, rest), Buffer.alloc(0));
    socket.destroy();
    throw new Error(`${head}\n${rest.toString()}`);
  }

  close(): void {
    this.socket.destroy();
  }

  open(headers: Readonly<Record<string, string>>): ClientStream {
    const id = this.#nextId;
    this.#nextId += 2;
    const stream = new ClientStream(this, id);
    this.#streams.set(id, stream);
    const block = compressed(headers, id === 1);
    this.socket.write(Buffer.concat([uint32(0x80030001, 10 + block.length, id, 0), Buffer.alloc(2), block]));
    return stream;
  }

  sendData(id: number, data: Buffer, flags: number): void {
    this.socket.write(Buffer.concat([uint32(id, flags * 0x1000000 + data.length), data]));
  }

  #read(chunk: Buffer): void {
    let rest = this.#payload(chunk);
    this.#buffered = Buffer.concat([this.#buffered, rest]);
    while (this.#buffered.length >= 8) {
      const [first, length] = [this.#buffered.readUInt32BE(0), this.#buffered.readUIntBE(5, 3)];
      const isData = first < 0x80000000;
      if (!isData && this.#buffered.length < 8 + length) return;
      if (isData) this.#frame = {id: first, length, isEnd: (this.#buffered.readUInt8(4) & 1) !== 0};
      else if ((first & 0xffff) === 3)
        this.#streams.get(this.#buffered.readUInt32BE(8))?.receive(Buffer.alloc(0), true);
      rest = this.#buffered.subarray(isData ? 8 : 8 + length);
      this.#buffered = this.#payload(rest);
    }
  }

  /** Passes data of the current frame to its stream. Returns the bytes that follow the frame. */
  #payload(bytes: Buffer): Buffer {
    if (this.#frame === undefined) return bytes;
    const {id, length, isEnd} = this.#frame;
    const piece = bytes.subarray(0, length);
    const left = length - piece.length;
    this.#frame = left === 0 ? undefined : {id, length: left, isEnd};
    this.#streams.get(id)?.receive(piece, isEnd && left === 0);
    return bytes.subarray(piece.length);
  }
}

/** Returns a block of headers, which continues the connection's zlib stream. */
function compressed(headers: Readonly<Record<string, string>>, isFirst: boolean): Buffer {
  const word = (text: string) => [uint32(text.length), Buffer.from(text)];
  const pairs = Object.entries(headers);
  const plain = [uint32(pairs.length), ...pairs.flatMap(([name, value]) => [...word(name), ...word(value)])];
  const block = deflateRawSync(Buffer.concat(plain), {finishFlush: constants.Z_SYNC_FLUSH});
  return isFirst ? Buffer.concat([Buffer.of(0x78, 0x9c), block]) : block;
}
