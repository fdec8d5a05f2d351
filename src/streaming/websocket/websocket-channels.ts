import {Duplex} from 'node:stream';
import {onAbort} from '../../base/async/abort-callbacks.js';
import {anySignal} from '../../base/async/any-signal.js';
import type {RawData, WebSocket} from 'ws';
import {joinHostPort} from '../../base/net/join-host-port.js';
import type {StreamingAddress} from '../session/streaming-address.js';
import {connectSocket} from '../socket/connect-socket.js';
import {openingError} from '../socket/tls-errors.js';
import type {InputGate} from '../session/input-gate.js';
import {pipeReadableTo, type OutputTarget, type RemoteOutput} from '../session/remote-output.js';
import type {DialOptions} from '../session/session.js';
import {createUpgradeDeadline, readRefusal} from '../socket/upgrade.js';

/** Channels of a WebSocket, and its protocols. */
export interface ChannelRequest {
  /** Subprotocols to offer, the preferred one first. */
  readonly protocols: readonly string[];
  readonly channels: readonly number[];
  /** True if the first message on each channel belongs to the protocol. Default false. */
  readonly greeted?: boolean;
}

/** One channel; it counts the bytes that were received, and passed on to the system. */
export type ChannelStream = Duplex &
  RemoteOutput & {
    readonly bytesReceived: number;
    readonly bytesSent: number;
    /** Gate that data passes before it is sent. */
    gate: InputGate | undefined;
  };

/** Channels over one WebSocket. They share its backpressure: a slow reader of one blocks the others. */
export interface Channels {
  /** Subprotocol chosen by the server; empty for none. */
  readonly protocol: string;
  /** Returns one of the requested channels. Its reading side ends with the connection, without an error. */
  channel(number: number): ChannelStream;
  /** Resolves when the connection has ended, with true if the server closed it regularly. */
  readonly closed: Promise<boolean>;
  /** Starts a regular close and waits briefly for the server's reply. */
  finish(): void;
  /** Closes the connection. */
  close(): void;
}

/** First version that can close a single channel: with a message on channel 255 that names it. */
export const V5_CHANNELS = 'v5.channel.k8s.io';
export const V4_CHANNELS = 'v4.channel.k8s.io';
const CLOSE_CHANNEL = 255;

const HIGH_WATER_MARK = 256 * 1024;
/** Maximum message size, in bytes. Servers send some tens of kilobytes at once. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;
const CLOSE_TIMEOUT_MS = 1000;
const NORMAL_CLOSURE = 1000;

/**
 * Opens a WebSocket to a streaming server. Rejects with UpgradeRefusedError if it accepts none of the protocols, with
 * StreamingError if it is unreachable, or with the signal's reason.
 */
export async function dialChannels(
  address: StreamingAddress,
  request: ChannelRequest,
  options: DialOptions,
): Promise<Channels> {
  const [{WebSocket}, transport] = await Promise.all([import('ws'), connectSocket(address, options)]);
  const settings = {
    createConnection: () => transport,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    closeTimeout: CLOSE_TIMEOUT_MS,
    // Masks protect proxies from scripts in browsers; a zero mask avoids the work.
    generateMask: (mask: Buffer) => mask.fill(0),
  };
  const url = `ws://${joinHostPort(address)}${address.path}`;
  const socket = new WebSocket(url, [...request.protocols], settings);
  // The first messages may arrive in one packet with the response, so the listeners are attached now.
  const channels = new ChannelSocket(socket, request);
  using limit = createUpgradeDeadline(address, options.clock);
  using either = anySignal(options.signal, limit.signal);
  const {signal} = either;
  const forget = onAbort(signal, () => {
    socket.terminate();
  });
  try {
    await opened(socket, address, options);
    return channels;
  } catch (error) {
    transport.destroy();
    signal.throwIfAborted();
    throw error;
  } finally {
    forget();
  }
}

async function opened(socket: WebSocket, address: StreamingAddress, {tls}: DialOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once(
      'unexpected-response',
      (_request, response) => void readRefusal(response).then(reject, reject),
    );
    socket.once('error', (error) => {
      const operation = `cannot open a WebSocket at ${joinHostPort(address)}`;
      reject(openingError(operation, error, {secure: address.secure, tls}));
    });
  });
}

class ChannelSocket implements Channels {
  readonly closed: Promise<boolean>;
  readonly #socket: WebSocket;
  readonly #channels: ReadonlyMap<number, Channel>;
  readonly #full = new Set<Channel>();
  /** Channels that have not received their first message. */
  readonly #greetings: Set<number>;

  constructor(socket: WebSocket, {channels, greeted = false}: ChannelRequest) {
    this.#socket = socket;
    this.#channels = new Map(channels.map((number) => [number, new Channel(this, number)]));
    this.#greetings = new Set(greeted ? channels : []);
    socket.on('message', (data) => {
      this.#receive(data);
    });
    // The close event follows and is handled.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', (code) => {
        for (const channel of this.#channels.values()) channel.push(null);
        resolve(code === NORMAL_CLOSURE);
      });
    });
  }

  get protocol(): string {
    return this.#socket.protocol;
  }

  channel(number: number): Channel {
    const channel = this.#channels.get(number);
    if (channel === undefined) throw new Error(`channel ${number} was not requested`);
    return channel;
  }

  finish(): void {
    this.#socket.close(NORMAL_CLOSURE);
  }

  close(): void {
    this.#socket.terminate();
  }

  /** Continues reading when the reader of a channel wants more. */
  drained(channel: Channel): void {
    if (this.#full.delete(channel) && this.#full.size === 0) this.#socket.resume();
  }

  /** Sends data and calls `sent` when it was passed on. Data for a closed connection is dropped. */
  send(channel: number, data: Buffer, sent: () => void): void {
    const message = Buffer.allocUnsafe(data.length + 1);
    message[0] = channel;
    data.copy(message, 1);
    this.#socket.send(message, () => {
      sent();
    });
  }

  /** Signals the end of a channel, if the protocol supports it. */
  sendEnd(channel: number, sent: () => void): void {
    if (this.protocol === V5_CHANNELS) this.send(CLOSE_CHANNEL, Buffer.of(channel), sent);
    else sent();
  }

  #receive(data: RawData): void {
    // Never an array or ArrayBuffer, since binaryType is nodebuffer.
    const message = data as Buffer;
    const [number = -1] = message;
    const channel = this.#channels.get(number);
    if (channel === undefined || this.#greetings.delete(number) || message.length === 1) return;
    if (channel.receive(message.subarray(1))) return;
    this.#full.add(channel);
    this.#socket.pause();
  }
}

class Channel extends Duplex implements ChannelStream {
  bytesReceived = 0;
  bytesSent = 0;
  gate: InputGate | undefined;
  readonly #socket: ChannelSocket;
  readonly #number: number;

  constructor(socket: ChannelSocket, number: number) {
    super({highWaterMark: HIGH_WATER_MARK, autoDestroy: false});
    this.#socket = socket;
    this.#number = number;
  }

  /** Receives data. Returns false if the sender must wait until the reader wants more. */
  receive(data: Buffer): boolean {
    this.bytesReceived += data.length;
    return this.destroyed || this.push(data);
  }

  async pipeTo(target: OutputTarget): Promise<void> {
    await pipeReadableTo(this, target);
  }

  override _read(): void {
    this.#socket.drained(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.gate === undefined) this.#send(chunk, done);
    else this.gate.pass(chunk, this.#send, done);
  }

  readonly #send = (part: Buffer, done: () => void): void => {
    this.#socket.send(this.#number, part, () => {
      this.bytesSent += part.length;
      done();
    });
  };

  override _final(done: () => void): void {
    this.#socket.sendEnd(this.#number, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.drained(this);
    done(error);
  }
}
