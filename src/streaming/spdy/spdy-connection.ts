import {StreamingError} from '../session/errors.js';
import type {BufferPressureObserver, RetainBuffer} from '../socket/read-buffer-pool.js';
import type {UpgradableSocket} from '../socket/upgrade.js';
import {
  dataHeader,
  FLAG_FIN,
  FRAME,
  HeaderEncoder,
  MAX_DATA_LENGTH,
  ping,
  rstStream,
  synStream,
} from './frames.js';
import {FrameReader, type FrameHandler} from './frame-reader.js';
import {SpdyStream, type StreamTransport} from './spdy-stream.js';

/** Headers of a stream, such as `{streamtype: 'stdin'}`. */
type StreamHeaders = Readonly<Record<string, string>>;

/** Last stream ID; stream IDs have 31 bits. */
const LAST_STREAM_ID = 0x7fffffff;

/**
 * Client connection of SPDY/3.1. Kubernetes' servers use no flow control, so the socket is paused while the reader of
 * any stream lags: readers of different speeds need separate connections.
 */
export class SpdyConnection implements FrameHandler, StreamTransport {
  readonly #socket: UpgradableSocket;
  readonly #headers = new HeaderEncoder();
  readonly #reader = new FrameReader(this);
  readonly #streams = new Map<number, SpdyStream>();
  /** Readers that must catch up before reading continues. */
  readonly #lagging = new Set<SpdyStream | BufferPressureObserver>();
  /** Function that retains the memory of the current chunk; undefined if it is not reused. */
  #retain: RetainBuffer | undefined;
  #nextId = 1;
  #failure: StreamingError | undefined;
  #open = true;
  #draining = false;

  /** Resolves when the connection has ended, with the error unless it was closed regularly. */
  readonly closed: Promise<StreamingError | undefined>;

  constructor(socket: UpgradableSocket) {
    this.#socket = socket;
    this.#listen(socket);
    socket.on('error', (error) => {
      this.#failure ??= new StreamingError(
        `the connection to the streaming server failed: ${error.message}`,
        {
          cause: error,
        },
      );
    });
    socket.on('end', () => {
      if (!this.#reader.isBetweenFrames)
        this.#failure ??= new StreamingError('the connection to the streaming server ended inside a frame');
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#end();
        resolve(this.#failure);
      });
    });
  }

  /** Error that ended the connection, if any. */
  get failure(): StreamingError | undefined {
    return this.#failure;
  }

  /** True if streams can be opened. */
  get isOpen(): boolean {
    return this.#open && !this.#draining && this.#socket.writable;
  }

  /**
   * Opens a stream, which is writable immediately unless `writable` is false. Throws StreamingError if the connection
   * has ended.
   */
  openStream(headers: StreamHeaders, {writable = true} = {}): SpdyStream {
    const id = this.#nextId;
    if (!this.isOpen || id > LAST_STREAM_ID)
      throw new StreamingError('the connection to the streaming server has ended', {cause: this.#failure});
    this.#nextId += 2;
    const stream = new SpdyStream(id, this, {writable});
    this.#streams.set(id, stream);
    this.#socket.write(synStream(id, this.#headers.encode(headers), !writable));
    return stream;
  }

  /** Opens several streams with a single write. */
  openStreams<const All extends readonly StreamHeaders[]>(
    ...headers: All
  ): {readonly [Each in keyof All]: SpdyStream} {
    return this.corked(
      () => headers.map((each) => this.openStream(each)) as {readonly [Each in keyof All]: SpdyStream},
    );
  }

  /** Combines the writes of `act` into one. */
  corked<T>(act: () => T): T {
    this.#socket.cork();
    try {
      return act();
    } finally {
      this.#socket.uncork();
    }
  }

  /** Closes the connection and its streams. */
  close(): void {
    this.#end();
    this.#socket.destroy();
  }

  #listen(socket: UpgradableSocket): void {
    if (socket.takeOver === undefined) {
      socket.on('data', (chunk: Buffer) => {
        this.#read(chunk);
      });
      socket.resume();
      return;
    }
    const observer: BufferPressureObserver = {
      full: () => {
        this.pauseReading(observer);
      },
      free: () => {
        this.resumeReading(observer);
      },
    };
    socket.takeOver(observer, (chunk, retain) => {
      this.#retain = retain;
      this.#read(chunk);
    });
  }

  #read(chunk: Buffer): void {
    try {
      this.#reader.read(chunk);
    } catch (error) {
      if (!(error instanceof StreamingError)) throw error;
      this.#failure ??= error;
      this.#socket.destroy();
    }
  }

  #end(): void {
    this.#open = false;
    for (const stream of this.#streams.values()) stream.receiveReset();
    this.#streams.clear();
    this.#lagging.clear();
  }

  // Received frames

  onData(streamId: number, chunk: Buffer): void {
    this.#streams.get(streamId)?.receive(chunk, this.#retain);
  }

  onFin(streamId: number): void {
    this.#streams.get(streamId)?.receiveEnd();
  }

  onControl(type: number, flags: number, payload: Buffer): void {
    if (type === FRAME.goAway) {
      this.#draining = true;
      return;
    }
    if (type !== FRAME.synReply && type !== FRAME.rstStream && type !== FRAME.ping) return;
    if (payload.length < 4) throw new StreamingError('the streaming server sent a truncated control frame');
    const id = payload.readUInt32BE(0);
    if (type === FRAME.ping) this.#onPing(id);
    else if (type === FRAME.synReply) this.#onAccepted(id, flags);
    else this.#onReset(id);
  }

  /** Replies to a ping of the server, which has an even ID. */
  #onPing(id: number): void {
    if (id % 2 === 0) this.#socket.write(ping(id));
  }

  #onAccepted(id: number, flags: number): void {
    const stream = this.#streams.get(id);
    stream?.accept();
    if ((flags & FLAG_FIN) !== 0) stream?.receiveEnd();
  }

  #onReset(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.receiveReset();
  }

  // Sent frames

  send(streamId: number, payload: Buffer, done: () => void): void {
    this.#socket.cork();
    let start = 0;
    do {
      const part = payload.subarray(start, start + MAX_DATA_LENGTH);
      start += MAX_DATA_LENGTH;
      this.#socket.write(dataHeader(streamId, part.length, false));
      this.#socket.write(part, start < payload.length ? undefined : done);
    } while (start < payload.length);
    this.#socket.uncork();
  }

  fin(streamId: number, done: () => void): void {
    this.#socket.write(dataHeader(streamId, 0, true), done);
  }

  reset(streamId: number): void {
    if (this.#open && this.#socket.writable) this.#socket.write(rstStream(streamId));
  }

  pauseReading(reader: SpdyStream | BufferPressureObserver): void {
    this.#lagging.add(reader);
    this.#socket.pause();
  }

  resumeReading(reader: SpdyStream | BufferPressureObserver): void {
    if (this.#lagging.delete(reader) && this.#lagging.size === 0) this.#socket.resume();
  }

  forget(stream: SpdyStream): void {
    this.#streams.delete(stream.id);
    this.resumeReading(stream);
  }
}
