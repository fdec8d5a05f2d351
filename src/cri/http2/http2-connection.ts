import {hasErrno} from '../../base/errors.js';
import {connectUnixSocket} from '../../base/net/connect-unix-socket.js';
import type {UnixSocket} from '../../base/net/unix-socket.js';
import {startStallTolerantTimer} from '../../base/async/timer.js';
import {joinBytes} from './byte-order.js';
import {FrameReader, type FrameHandler} from './frame-reader.js';
import {goAway, pingAck, PREFACE, rstStream, settings, SETTINGS_ACK, windowUpdate} from './frames.js';
import {HeaderBlockReader, type Headers} from './header-block-reader.js';
import {NO_DYNAMIC_TABLE} from './hpack.js';
import {SendQueue} from './send-queue.js';
import {applySettings, DEFAULT_PEER_SETTINGS, type PeerSettings} from './peer-settings.js';
import {
  DEFAULT_WINDOW,
  ERROR_CODE,
  FLAG,
  FRAME,
  LAST_STREAM_ID,
  ProtocolError,
} from './protocol-constants.js';
import {Http2Stream, type ConnectionFailure, type Exchange} from './http2-stream.js';

/**
 * Receive window of the connection and of each stream: more than the largest response, since responses are consumed
 * at once.
 */
const RECEIVE_WINDOW = 2 ** 28;
/** Maximum size of response headers: status messages may be long. */
const MAX_HEADER_BYTES = 1024 * 1024;

const GREETING = joinBytes([
  PREFACE,
  settings({enablePush: 0, initialWindowSize: RECEIVE_WINDOW, maxHeaderListSize: MAX_HEADER_BYTES}),
  windowUpdate(0, RECEIVE_WINDOW - DEFAULT_WINDOW),
]);

/** Options of an Http2Connection. */
export interface ConnectionOptions {
  /** Path of the Unix socket. */
  readonly path: string;
  /** Time within which the peer's settings must arrive, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Called once when the connection has ended. */
  readonly onEnd: () => void;
  /** ID of the first stream; other than 1 only in tests. */
  readonly firstStreamId?: number | undefined;
}

/**
 * State of a connection: `connecting` until the peer's settings arrive; `draining` while it accepts no more requests
 * and waits for outstanding responses.
 */
type State = 'connecting' | 'ready' | 'draining' | 'ended';

/**
 * HTTP/2 client connection over a Unix socket. Requests are complete in memory; responses are passed on as they
 * arrive. Sends as many requests at once as the peer allows and queues the others. Keeps the process alive while
 * requests are outstanding.
 */
export class Http2Connection implements FrameHandler {
  readonly #socket: UnixSocket;
  readonly #reader = new FrameReader(this);
  readonly #headerBlocks = new HeaderBlockReader(MAX_HEADER_BYTES);
  readonly #outbox: SendQueue;
  readonly #onEnd: () => void;
  readonly #cancelTimeout: () => void;
  readonly #streams = new Map<number, Http2Stream>();
  /** Queued requests in order, sent when the peer allows another stream. */
  readonly #queued = new Set<Http2Stream>();
  readonly #firstId: number;
  #nextId: number;
  #state: State = 'connecting';
  #settings: PeerSettings = DEFAULT_PEER_SETTINGS;
  /** Bytes received since the last WINDOW_UPDATE. */
  #received = 0;
  #connected = false;

  constructor({path, connectTimeoutMs, onEnd, firstStreamId = 1}: ConnectionOptions) {
    this.#onEnd = onEnd;
    this.#firstId = this.#nextId = firstStreamId;
    this.#socket = this.#connect(path);
    this.#socket.unref();
    this.#outbox = new SendQueue(this.#socket);
    this.#outbox.write(GREETING);
    this.#cancelTimeout = startStallTolerantTimer(connectTimeoutMs, () => {
      this.#fail({kind: 'silent'});
    });
  }

  /** True while it accepts requests; never becomes true again. */
  get isOpen(): boolean {
    return this.#state === 'connecting' || this.#state === 'ready';
  }

  /** Queues a request. Must only be called while `isOpen` is true. */
  request(exchange: Exchange): Http2Stream {
    const stream = new Http2Stream(exchange);
    this.#queued.add(stream);
    this.#updateState();
    return stream;
  }

  /** Cancels an exchange, whose callbacks are not called any more. The peer is notified if the request was sent. */
  cancel(stream: Http2Stream): void {
    if (this.#streams.delete(stream.id)) {
      this.#outbox.drop(stream);
      this.#outbox.write(rstStream(stream.id, ERROR_CODE.cancel));
    } else this.#queued.delete(stream);
    this.#updateState();
  }

  /** Closes the connection; all outstanding requests fail. */
  close(): void {
    this.#fail({kind: 'closed'}, ERROR_CODE.none);
  }

  // The socket

  #connect(path: string): UnixSocket {
    return connectUnixSocket(path, {
      onConnect: () => {
        this.#connected = true;
      },
      onRead: (chunk) => {
        this.#read(chunk);
      },
      onDrain: () => {
        this.#outbox.onDrain();
      },
      onLost: (error) => {
        this.#onLost(error);
      },
    });
  }

  #onLost(cause?: Error): void {
    // Only a peer that accepted the connection can reset it; Bun reports the reset before the connection.
    const wasConnected = this.#connected || hasErrno(cause, 'ECONNRESET');
    const kind = this.#state !== 'connecting' ? 'lost' : wasConnected ? 'preface' : 'dial';
    this.#fail({kind, cause});
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.read(chunk);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      const kind = this.#state === 'connecting' ? 'preface' : 'protocol';
      this.#fail({kind, cause: error}, error.code);
    }
  }

  #fail(failure: ConnectionFailure, code?: number): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#cancelTimeout();
    if (code !== undefined && !this.#socket.hasUnsent) this.#outbox.write(goAway(code));
    this.#socket.destroy();
    this.#onEnd();
    const sent = [...this.#streams.values()];
    this.#streams.clear();
    for (const {exchange} of sent) exchange.onFailure(failure, true);
    this.#releaseQueued(failure);
  }

  /** Fails the queued requests, or hands them back to be sent on another connection if this one worked. */
  #releaseQueued(failure: ConnectionFailure): void {
    const queued = [...this.#queued];
    this.#queued.clear();
    const elsewhere = this.#nextId > this.#firstId && failure.kind !== 'closed';
    for (const {exchange} of queued)
      if (elsewhere) exchange.onNotSent();
      else exchange.onFailure(failure, false);
  }

  // Requests

  /** Sends what may be sent now, and refs the socket while requests are outstanding. */
  #updateState(): void {
    if (this.#state === 'ready') this.#sendQueued();
    if (this.#state === 'draining' && this.#streams.size === 0) this.close();
    if (this.#state === 'ended') return;
    if (this.#streams.size + this.#queued.size > 0) this.#socket.ref();
    else this.#socket.unref();
  }

  #sendQueued(): void {
    for (const stream of this.#queued) {
      if (this.#streams.size >= this.#settings.maxConcurrentStreams) return;
      this.#queued.delete(stream);
      this.#send(stream);
      if (this.#nextId > LAST_STREAM_ID) {
        this.#drain();
        return;
      }
    }
  }

  #send(stream: Http2Stream): void {
    const block = stream.exchange.headerBlock();
    const first = this.#nextId === this.#firstId;
    stream.id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(stream.id, stream);
    this.#outbox.sendRequest(stream, first ? joinBytes([NO_DYNAMIC_TABLE, block]) : block);
  }

  #drain(): void {
    this.#state = 'draining';
    this.#releaseQueued({kind: 'lost'});
  }

  /** Ends a stream that both sides have finished; the unsent part of its request is dropped. */
  #finish(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    if (this.#outbox.drop(stream)) this.#outbox.write(rstStream(stream.id, ERROR_CODE.none));
  }

  // Received frames

  onData(streamId: number, chunk: Buffer): void {
    if (this.#accepts(FRAME.data, streamId)) this.#streams.get(streamId)?.exchange.onData(chunk);
  }

  onDataEnd(streamId: number, flags: number, length: number): void {
    if (!this.#accepts(FRAME.data, streamId)) return;
    this.#received += length;
    if (this.#received >= RECEIVE_WINDOW / 2) {
      this.#outbox.reply(windowUpdate(0, this.#received));
      this.#received = 0;
    }
    const stream = (flags & FLAG.endStream) === 0 ? undefined : this.#streams.get(streamId);
    if (stream === undefined) return;
    this.#finish(stream);
    stream.exchange.onEnd();
    this.#updateState();
  }

  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (!this.#accepts(type, streamId)) return;
    switch (type) {
      case FRAME.headers:
        this.#onHeaders(this.#headerBlocks.begin(flags, streamId, payload));
        return;
      case FRAME.continuation:
        this.#onHeaders(this.#headerBlocks.continueBlock(flags, streamId, payload));
        return;
      case FRAME.rstStream:
        this.#onReset(streamId, payload);
        return;
      case FRAME.settings:
        this.#onSettings(flags, payload);
        return;
      case FRAME.ping:
        this.#onPing(flags, payload);
        return;
      case FRAME.goAway:
        this.#onGoAway(payload);
        return;
      case FRAME.windowUpdate:
        this.#onWindowUpdate(streamId, payload);
        return;
      case FRAME.pushPromise:
        throw new ProtocolError(ERROR_CODE.protocol, 'unexpected PUSH_PROMISE');
      default: // PRIORITY and unknown frames are ignored.
    }
  }

  /**
   * Reports whether a frame is processed. The first frame must be SETTINGS, and a header block must not be
   * interrupted. Throws ProtocolError.
   */
  #accepts(type: number, streamId: number): boolean {
    if (this.#state === 'ended') return false;
    if (this.#state === 'connecting' && type !== FRAME.settings)
      throw new ProtocolError(ERROR_CODE.protocol, 'the first frame is not SETTINGS');
    if (this.#headerBlocks.isOpen && type !== FRAME.continuation)
      throw new ProtocolError(ERROR_CODE.protocol, 'a frame inside a header block');
    checkStreamId(type, streamId, this.#nextId);
    return true;
  }

  #onHeaders(headers: Headers | undefined): void {
    const stream = headers === undefined ? undefined : this.#streams.get(headers.streamId);
    if (headers === undefined || stream === undefined) return;
    if (headers.endStream) this.#finish(stream);
    stream.exchange.onHeaders(headers.fields, headers.endStream);
    if (headers.endStream) this.#updateState();
  }

  #onReset(streamId: number, payload: Buffer): void {
    const code = uint32(FRAME.rstStream, payload);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    this.#streams.delete(streamId);
    this.#outbox.drop(stream);
    if (code === ERROR_CODE.refusedStream) stream.exchange.onNotProcessed();
    else stream.exchange.onReset(code);
    this.#updateState();
  }

  #onSettings(flags: number, payload: Buffer): void {
    if ((flags & FLAG.ack) !== 0) {
      if (this.#state === 'connecting')
        throw new ProtocolError(ERROR_CODE.protocol, 'the first frame is an acknowledgement');
      return;
    }
    this.#settings = applySettings(this.#settings, payload);
    // The acknowledgement goes first: frames after it follow the new settings.
    this.#outbox.reply(SETTINGS_ACK);
    this.#outbox.setSettings(this.#settings, this.#streams.values());
    if (this.#state === 'connecting') {
      this.#state = 'ready';
      this.#cancelTimeout();
    }
    this.#updateState();
  }

  #onPing(flags: number, payload: Buffer): void {
    if (payload.length !== 8)
      throw new ProtocolError(ERROR_CODE.frameSize, `a PING of ${payload.length} bytes`);
    if ((flags & FLAG.ack) === 0) this.#outbox.reply(pingAck(payload));
  }

  #onGoAway(payload: Buffer): void {
    if (payload.length < 8)
      throw new ProtocolError(ERROR_CODE.frameSize, `a GOAWAY of ${payload.length} bytes`);
    const lastId = payload.readUInt32BE(0) & 0x7fffffff;
    const unprocessed = [...this.#streams.values()].filter(({id}) => id > lastId);
    for (const stream of unprocessed) {
      this.#streams.delete(stream.id);
      this.#outbox.drop(stream);
    }
    this.#drain();
    for (const {exchange} of unprocessed) exchange.onNotProcessed();
    this.#updateState();
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    const increment = uint32(FRAME.windowUpdate, payload) & 0x7fffffff;
    if (increment === 0) throw new ProtocolError(ERROR_CODE.protocol, 'a WINDOW_UPDATE of 0 bytes');
    const stream = this.#streams.get(streamId);
    // The peer may send WINDOW_UPDATE for a stream that this side has finished.
    if (streamId === 0 || stream !== undefined) this.#outbox.increaseWindow(stream, increment);
  }
}

/** Frames that require a stream opened by this side, and frames that must be on stream 0. */
const STREAM_FRAMES: readonly number[] = [FRAME.data, FRAME.headers, FRAME.rstStream, FRAME.continuation];
const CONNECTION_FRAMES: readonly number[] = [FRAME.settings, FRAME.ping, FRAME.goAway];

function checkStreamId(type: number, streamId: number, nextId: number): void {
  const isOpened = streamId % 2 === 1 && streamId < nextId;
  const wrong =
    (STREAM_FRAMES.includes(type) && !isOpened) ||
    (CONNECTION_FRAMES.includes(type) && streamId !== 0) ||
    (type === FRAME.windowUpdate && streamId !== 0 && !isOpened);
  if (wrong)
    throw new ProtocolError(ERROR_CODE.protocol, `a frame of type ${type} on the stream ${streamId}`);
}

function uint32(type: number, payload: Buffer): number {
  if (payload.length !== 4)
    throw new ProtocolError(ERROR_CODE.frameSize, `a frame of type ${type} with ${payload.length} bytes`);
  return payload.readUInt32BE(0);
}
