import {Duplex} from 'node:stream';
import type {RawData, WebSocket} from 'ws';
import {messageOf} from '../base/errors.js';
import {authority, type StreamingAddress} from './address.js';
import {connectSocket} from './connect-socket.js';
import {StreamingError} from './errors.js';
import {pourStream, type PourTarget, type RemoteOutput} from './remote-output.js';
import type {DialOptions} from './session.js';
import {answerLimit, refusal} from './upgrade.js';

/** Which channels a WebSocket carries, and how. */
export interface ChannelRequest {
  /** The subprotocols to offer, the most wanted one first. */
  readonly protocols: readonly string[];
  readonly channels: readonly number[];
  /** The first message on each channel is the protocol's, not data. Default false. */
  readonly greeted?: boolean;
}

/** Channels over one WebSocket. All share its back-pressure: a slow reader of one holds up the others. */
export interface Channels {
  /** The subprotocol that the server chose; '' when it named none. */
  readonly protocol: string;
  /** One of the channels asked for. Its reading side ends with the connection, and never fails. */
  channel(number: number): Duplex & RemoteOutput & {readonly bytesReceived: number};
  /** Resolves when the connection has ended; true when the server ended it properly. */
  readonly closed: Promise<boolean>;
  /** Tells the server that this is the end, and waits for its answer a moment. */
  finish(): void;
  /** Ends the connection at once. */
  close(): void;
}

/** From this version on, the end of a channel can be told: a message on this channel that names the other. */
export const V5_CHANNELS = 'v5.channel.k8s.io';
export const V4_CHANNELS = 'v4.channel.k8s.io';
const CLOSE_CHANNEL = 255;

const HIGH_WATER_MARK = 256 * 1024;
/** Servers send some tens of kilobytes at a time; this is what is taken from one that doesn't behave. */
const MAX_MESSAGE = 16 * 1024 * 1024;
const CLOSE_LIMIT_MS = 1000;
const NORMAL_CLOSURE = 1000;

/**
 * Opens a WebSocket to a streaming server. Rejects with UpgradeRefusedError when it takes none of the
 * protocols, with StreamingError when it can't be reached, or with the signal's reason.
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
    maxPayload: MAX_MESSAGE,
    closeTimeout: CLOSE_LIMIT_MS,
    // Masks protect proxies from scripts in browsers; a mask of zeros spares the work.
    generateMask: (mask: Buffer) => mask.fill(0),
  };
  const url = `ws://${authority(address)}${address.path}`;
  const socket = new WebSocket(url, [...request.protocols], settings);
  // The first messages may come in one packet with the server's answer, so they are listened to from here on.
  const channels = new ChannelSocket(socket, request);
  const abort = (): void => {
    socket.terminate();
  };
  using limit = answerLimit(address, options.clock);
  const signal = AbortSignal.any([options.signal, limit.signal]);
  signal.addEventListener('abort', abort, {once: true});
  try {
    await opened(socket, address);
    return channels;
  } catch (error) {
    transport.destroy();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

async function opened(socket: WebSocket, address: StreamingAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_request, response) => void refusal(response).then(reject, reject));
    socket.once('error', (error) => {
      const doing = `opening a WebSocket at ${authority(address)}`;
      reject(new StreamingError(`${doing}: ${messageOf(error)}`, {cause: error}));
    });
  });
}

class ChannelSocket implements Channels {
  readonly closed: Promise<boolean>;
  readonly #socket: WebSocket;
  readonly #channels: ReadonlyMap<number, Channel>;
  readonly #full = new Set<Channel>();
  /** The channels whose first message is still to come. */
  readonly #greetings: Set<number>;

  constructor(socket: WebSocket, {channels, greeted = false}: ChannelRequest) {
    this.#socket = socket;
    this.#channels = new Map(channels.map((number) => [number, new Channel(this, number)]));
    this.#greetings = new Set(greeted ? channels : []);
    socket.on('message', (data) => {
      this.#receive(data);
    });
    // An error is followed by the close event, which says all that is to be said.
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
    if (channel === undefined) throw new Error(`channel ${number} was not asked for`);
    return channel;
  }

  finish(): void {
    this.#socket.close(NORMAL_CLOSURE);
  }

  close(): void {
    this.#socket.terminate();
  }

  /** The reader of a channel wants more. */
  drained(channel: Channel): void {
    if (this.#full.delete(channel) && this.#full.size === 0) this.#socket.resume();
  }

  /** Calls `sent` when the data is on its way. What is sent to a closed connection is lost, as with any. */
  send(channel: number, data: Buffer, sent: () => void): void {
    const message = Buffer.allocUnsafe(data.length + 1);
    message[0] = channel;
    data.copy(message, 1);
    this.#socket.send(message, () => {
      sent();
    });
  }

  /** Tells the server that nothing more comes on a channel, where the protocol has a way to. */
  sendEnd(channel: number, sent: () => void): void {
    if (this.protocol === V5_CHANNELS) this.send(CLOSE_CHANNEL, Buffer.of(channel), sent);
    else sent();
  }

  #receive(data: RawData): void {
    // Never an array or an ArrayBuffer: binaryType is left at nodebuffer.
    const message = data as Buffer;
    const [number = -1] = message;
    const channel = this.#channels.get(number);
    if (channel === undefined || this.#greetings.delete(number) || message.length === 1) return;
    if (channel.receive(message.subarray(1))) return;
    this.#full.add(channel);
    this.#socket.pause();
  }
}

class Channel extends Duplex implements RemoteOutput {
  bytesReceived = 0;
  readonly #socket: ChannelSocket;
  readonly #number: number;

  constructor(socket: ChannelSocket, number: number) {
    super({highWaterMark: HIGH_WATER_MARK, autoDestroy: false});
    this.#socket = socket;
    this.#number = number;
  }

  /** False when nothing more must come until the reader wants more. */
  receive(data: Buffer): boolean {
    this.bytesReceived += data.length;
    return this.destroyed || this.push(data);
  }

  async pour(target: PourTarget): Promise<void> {
    await pourStream(this, target);
  }

  override _read(): void {
    this.#socket.drained(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#socket.send(this.#number, chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.sendEnd(this.#number, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.drained(this);
    done(error);
  }
}
