import {connect, type OnReadOpts, type Socket} from 'node:net';
import {hasErrno} from '../../base/errors.js';
import {startTimer} from '../../base/timer.js';
import {FrameReader, type FrameHandler} from './frame-reader.js';
import {goAway, pong, PREFACE, rstStream, settings, SETTINGS_ACK, windowUpdate} from './frames.js';
import {HeaderBlocks, type Headers} from './header-blocks.js';
import {NO_DYNAMIC_TABLE} from './hpack.js';
import {Outbox} from './outbox.js';
import {applySettings, DEFAULT_PEER_SETTINGS, type PeerSettings} from './peer-settings.js';
import {DEFAULT_WINDOW, ERROR, FLAG, FRAME, LAST_STREAM_ID, ProtocolError} from './protocol.js';
import {Http2Stream, type ConnectionFailure, type Exchange} from './stream.js';

/** What may be on its way to this side: more than the longest answer, since whoever asked for it takes all at once. */
const RECEIVE_WINDOW = 2 ** 28;
/** What one read brings at most. */
const READ_BYTES = 64 * 1024;
/** A status message may be long. */
const MAX_HEADER_BYTES = 1024 * 1024;

const GREETING = Buffer.concat([
  PREFACE,
  settings({enablePush: 0, initialWindowSize: RECEIVE_WINDOW, maxHeaderListSize: MAX_HEADER_BYTES}),
  windowUpdate(0, RECEIVE_WINDOW - DEFAULT_WINDOW),
]);

/** How to connect, and who is told when the connection is over. */
export interface ConnectionOptions {
  /** The unix socket. */
  readonly path: string;
  /** Until the peer's settings must have come. */
  readonly connectTimeoutMs: number;
  readonly onEnd: () => void;
  readonly firstStreamId?: number | undefined;
}

/**
 * `connecting` until the peer's settings are there; `draining` when no more requests are taken and the last ones wait
 * for their answers.
 */
type State = 'connecting' | 'ready' | 'draining' | 'ended';

/**
 * An HTTP/2 connection of a client over a unix socket, for requests that are whole in memory and answers that are passed
 * on as they come: many at once, as far as the peer takes them, the rest in turn. It keeps the process alive while it has
 * something to do.
 */
export class Http2Connection implements FrameHandler {
  readonly #socket: Socket;
  readonly #reader = new FrameReader(this);
  readonly #headerBlocks = new HeaderBlocks(MAX_HEADER_BYTES);
  readonly #outbox: Outbox;
  readonly #onEnd: () => void;
  readonly #cancelTimeout: () => void;
  readonly #streams = new Map<number, Http2Stream>();
  /** In their order; each is sent when the peer takes another one. */
  readonly #waiting = new Set<Http2Stream>();
  readonly #firstId: number;
  #nextId: number;
  #state: State = 'connecting';
  #settings: PeerSettings = DEFAULT_PEER_SETTINGS;
  /** Data that came since the peer was last told that it may send as much again. */
  #received = 0;
  #dialled = false;

  constructor({path, connectTimeoutMs, onEnd, firstStreamId = 1}: ConnectionOptions) {
    this.#onEnd = onEnd;
    this.#firstId = this.#nextId = firstStreamId;
    this.#socket = connect({path, onread: this.#onRead()}).unref();
    this.#outbox = new Outbox(this.#socket);
    this.#listen(this.#socket);
    this.#outbox.write(GREETING);
    this.#cancelTimeout = startTimer(connectTimeoutMs, () => {
      this.#fail({kind: 'silent'});
    });
  }

  /** Whether it takes requests; when not, never again. */
  get isOpen(): boolean {
    return this.#state === 'connecting' || this.#state === 'ready';
  }

  /** Sends a request when it is its turn. Only while it is open. */
  request(exchange: Exchange): Http2Stream {
    const stream = new Http2Stream(exchange);
    this.#waiting.add(stream);
    this.#settle();
    return stream;
  }

  /** Ends an exchange, which is told nothing more; the peer learns of it when it knows of the request. */
  cancel(stream: Http2Stream): void {
    if (this.#streams.delete(stream.id)) {
      this.#outbox.drop(stream);
      this.#outbox.write(rstStream(stream.id, ERROR.cancel));
    } else this.#waiting.delete(stream);
    this.#settle();
  }

  /** Ends all at once. */
  close(): void {
    this.#fail({kind: 'closed'}, ERROR.none);
  }

  // The socket

  #listen(socket: Socket): void {
    socket.on('connect', () => {
      this.#dialled = true;
    });
    socket.on('error', (error) => {
      this.#lose(error);
    });
    socket.on('end', () => {
      this.#lose();
    });
    socket.on('close', () => {
      this.#lose();
    });
  }

  /** All is read into the same memory: a new buffer for each read costs more than to copy what stays. */
  #onRead(): OnReadOpts {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (length: number): boolean => {
      this.#read(buffer.subarray(0, length));
      return true;
    };
    return {buffer, callback};
  }

  #lose(cause?: Error): void {
    // Only who has accepted can reset: Bun tells of that before it tells of the connection.
    const isDialled = this.#dialled || hasErrno(cause, 'ECONNRESET');
    const kind = this.#state !== 'connecting' ? 'lost' : isDialled ? 'preface' : 'dial';
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
    if (code !== undefined && this.#socket.writableLength === 0) this.#outbox.write(goAway(code));
    this.#socket.destroy();
    this.#onEnd();
    const running = [...this.#streams.values()];
    this.#streams.clear();
    for (const {exchange} of running) exchange.onFailure(failure, true);
    this.#releaseWaiting(failure);
  }

  /** Those that were not sent can go over another connection, if this one was good for anything. */
  #releaseWaiting(failure: ConnectionFailure): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    const elsewhere = this.#nextId > this.#firstId && failure.kind !== 'closed';
    for (const {exchange} of waiting)
      if (elsewhere) exchange.onNotSent();
      else exchange.onFailure(failure, false);
  }

  // Requests

  /** Sends what may be sent now, and keeps the process alive or not. */
  #settle(): void {
    if (this.#state === 'ready') this.#sendWaiting();
    if (this.#state === 'draining' && this.#streams.size === 0) this.close();
    if (this.#state === 'ended') return;
    if (this.#streams.size + this.#waiting.size > 0) this.#socket.ref();
    else this.#socket.unref();
  }

  #sendWaiting(): void {
    for (const stream of this.#waiting) {
      if (this.#streams.size >= this.#settings.maxConcurrentStreams) return;
      this.#waiting.delete(stream);
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
    this.#outbox.start(stream, first ? Buffer.concat([NO_DYNAMIC_TABLE, block]) : block);
  }

  #drain(): void {
    this.#state = 'draining';
    this.#releaseWaiting({kind: 'lost'});
  }

  /** The stream is over for both sides; what is not sent of its request isn't wanted. */
  #finish(stream: Http2Stream): void {
    this.#streams.delete(stream.id);
    if (this.#outbox.drop(stream)) this.#outbox.write(rstStream(stream.id, ERROR.none));
  }

  // What comes in

  onData(streamId: number, piece: Buffer): void {
    if (this.#takes(FRAME.data, streamId)) this.#streams.get(streamId)?.exchange.onData(piece);
  }

  onDataEnd(streamId: number, flags: number, length: number): void {
    if (!this.#takes(FRAME.data, streamId)) return;
    this.#received += length;
    if (this.#received >= RECEIVE_WINDOW / 2) {
      this.#outbox.reply(windowUpdate(0, this.#received));
      this.#received = 0;
    }
    const stream = (flags & FLAG.endStream) === 0 ? undefined : this.#streams.get(streamId);
    if (stream === undefined) return;
    this.#finish(stream);
    stream.exchange.onEnd();
    this.#settle();
  }

  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void {
    if (!this.#takes(type, streamId)) return;
    switch (type) {
      case FRAME.headers:
        this.#onHeaders(this.#headerBlocks.begin(flags, streamId, payload));
        return;
      case FRAME.continuation:
        this.#onHeaders(this.#headerBlocks.goOn(flags, streamId, payload));
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
        throw new ProtocolError(ERROR.protocol, 'a pushed answer that nobody wants');
      default: // Priorities, and what HTTP/2 is extended by, may be ignored.
    }
  }

  /** Whether a frame counts at all. Settings come first, and nothing between the parts of a header block. */
  #takes(type: number, streamId: number): boolean {
    if (this.#state === 'ended') return false;
    if (this.#state === 'connecting' && type !== FRAME.settings)
      throw new ProtocolError(ERROR.protocol, 'the first frame is not SETTINGS');
    if (this.#headerBlocks.isOpen && type !== FRAME.continuation)
      throw new ProtocolError(ERROR.protocol, 'a frame in the middle of headers');
    checkStreamId(type, streamId, this.#nextId);
    return true;
  }

  #onHeaders(headers: Headers | undefined): void {
    const stream = headers === undefined ? undefined : this.#streams.get(headers.streamId);
    if (headers === undefined || stream === undefined) return;
    if (headers.endStream) this.#finish(stream);
    stream.exchange.onHeaders(headers.fields, headers.endStream);
    if (headers.endStream) this.#settle();
  }

  #onReset(streamId: number, payload: Buffer): void {
    const code = uint32(FRAME.rstStream, payload);
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    this.#streams.delete(streamId);
    this.#outbox.drop(stream);
    if (code === ERROR.refusedStream) stream.exchange.onNotProcessed();
    else stream.exchange.onReset(code);
    this.#settle();
  }

  #onSettings(flags: number, payload: Buffer): void {
    if ((flags & FLAG.ack) !== 0) {
      if (this.#state === 'connecting')
        throw new ProtocolError(ERROR.protocol, 'the first frame is an answer');
      return;
    }
    this.#settings = applySettings(this.#settings, payload);
    // What is sent by the new settings comes after it: the peer goes by the old ones until then.
    this.#outbox.reply(SETTINGS_ACK);
    this.#outbox.setSettings(this.#settings, this.#streams.values());
    if (this.#state === 'connecting') {
      this.#state = 'ready';
      this.#cancelTimeout();
    }
    this.#settle();
  }

  #onPing(flags: number, payload: Buffer): void {
    if (payload.length !== 8) throw new ProtocolError(ERROR.frameSize, `a PING of ${payload.length} bytes`);
    if ((flags & FLAG.ack) === 0) this.#outbox.reply(pong(payload));
  }

  #onGoAway(payload: Buffer): void {
    if (payload.length < 8) throw new ProtocolError(ERROR.frameSize, `a GOAWAY of ${payload.length} bytes`);
    const lastId = payload.readUInt32BE(0) & 0x7fffffff;
    const unseen = [...this.#streams.values()].filter(({id}) => id > lastId);
    for (const stream of unseen) {
      this.#streams.delete(stream.id);
      this.#outbox.drop(stream);
    }
    this.#drain();
    for (const {exchange} of unseen) exchange.onNotProcessed();
    this.#settle();
  }

  #onWindowUpdate(streamId: number, payload: Buffer): void {
    const increment = uint32(FRAME.windowUpdate, payload) & 0x7fffffff;
    if (increment === 0) throw new ProtocolError(ERROR.protocol, 'a window that grows by nothing');
    const stream = this.#streams.get(streamId);
    // A stream that is over for this side may still be granted something.
    if (streamId === 0 || stream !== undefined) this.#outbox.increaseWindow(stream, increment);
  }
}

/** Frames that belong to a stream of this side's, and those that belong to none. */
const STREAM_FRAMES: readonly number[] = [FRAME.data, FRAME.headers, FRAME.rstStream, FRAME.continuation];
const CONNECTION_FRAMES: readonly number[] = [FRAME.settings, FRAME.ping, FRAME.goAway];

function checkStreamId(type: number, streamId: number, nextId: number): void {
  const ours = streamId % 2 === 1 && streamId < nextId;
  const wrong =
    (STREAM_FRAMES.includes(type) && !ours) ||
    (CONNECTION_FRAMES.includes(type) && streamId !== 0) ||
    (type === FRAME.windowUpdate && streamId !== 0 && !ours);
  if (wrong) throw new ProtocolError(ERROR.protocol, `a frame of type ${type} on the stream ${streamId}`);
}

function uint32(type: number, payload: Buffer): number {
  if (payload.length !== 4)
    throw new ProtocolError(ERROR.frameSize, `a frame of type ${type} with ${payload.length} bytes`);
  return payload.readUInt32BE(0);
}
