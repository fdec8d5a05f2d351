import type {Socket} from 'node:net';
import {StreamingError} from '../errors.js';
import type {HeldObserver, Hold} from '../held-buffers.js';
import {ReusingSocket} from '../reusing-socket.js';
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
import {SpdyStream, type StreamLink} from './stream.js';

/** What a stream is for, such as `{streamtype: 'stdin'}`. */
type StreamHeaders = Readonly<Record<string, string>>;

/** Stream ids are 31 bits. */
const LAST_STREAM_ID = 0x7fffffff;

/**
 * A SPDY/3.1 connection as a client. There is no flow control in what Kubernetes' servers speak, so the socket
 * itself is held up while the reader of any stream is behind: whoever has readers of different speeds takes a
 * connection for each.
 */
export class SpdyConnection implements FrameHandler, StreamLink {
  readonly #socket: Socket;
  readonly #headers = new HeaderEncoder();
  readonly #reader = new FrameReader(this);
  readonly #streams = new Map<number, SpdyStream>();
  /** Who must catch up before anything more is read. */
  readonly #behind = new Set<SpdyStream | HeldObserver>();
  /** How the piece that is being read is held, when its memory is used again. */
  #hold: Hold | undefined;
  #nextId = 1;
  #failure: StreamingError | undefined;
  #open = true;
  #goingAway = false;

  /** Resolves when the connection has ended; with the reason, unless it was `close` or an orderly end. */
  readonly closed: Promise<StreamingError | undefined>;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#listen(socket);
    socket.on('error', (error) => {
      this.#failure ??= new StreamingError(`the connection to the streaming server broke: ${error.message}`, {
        cause: error,
      });
    });
    socket.on('end', () => {
      if (!this.#reader.isBetweenFrames)
        this.#failure ??= new StreamingError('the connection to the streaming server ended in the middle');
    });
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#end();
        resolve(this.#failure);
      });
    });
  }

  /** What broke the connection, if anything did. */
  get failure(): StreamingError | undefined {
    return this.#failure;
  }

  /** False as soon as no more streams can be opened. */
  get isOpen(): boolean {
    return this.#open && !this.#goingAway && this.#socket.writable;
  }

  /**
   * Opens a stream; it can be written to at once, unless it is one that nothing is ever sent on. Throws
   * StreamingError when the connection is at its end.
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

  /** Opens several streams with one write. */
  openStreams<const All extends readonly StreamHeaders[]>(
    ...headers: All
  ): {readonly [Each in keyof All]: SpdyStream} {
    return this.atOnce(
      () => headers.map((one) => this.openStream(one)) as {readonly [Each in keyof All]: SpdyStream},
    );
  }

  /** Sends with one write what `act` sends. */
  atOnce<T>(act: () => T): T {
    this.#socket.cork();
    try {
      return act();
    } finally {
      this.#socket.uncork();
    }
  }

  /** Ends the connection at once; its streams end too. */
  close(): void {
    this.#end();
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    if (!(socket instanceof ReusingSocket)) {
      socket.on('data', (chunk: Buffer) => {
        this.#read(chunk);
      });
      return;
    }
    const held: HeldObserver = {
      full: () => {
        this.behind(held);
      },
      free: () => {
        this.readable(held);
      },
    };
    socket.takeOver(held, (piece, hold) => {
      this.#hold = hold;
      this.#read(piece);
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
    this.#behind.clear();
  }

  // What comes in

  onData(streamId: number, piece: Buffer): void {
    this.#streams.get(streamId)?.receive(piece, this.#hold);
  }

  onFin(streamId: number): void {
    this.#streams.get(streamId)?.receiveEnd();
  }

  onControl(type: number, flags: number, payload: Buffer): void {
    if (type === FRAME.goAway) {
      this.#goingAway = true;
      return;
    }
    if (type !== FRAME.synReply && type !== FRAME.rstStream && type !== FRAME.ping) return;
    if (payload.length < 4)
      throw new StreamingError('the streaming server sent a control frame that is too short');
    const id = payload.readUInt32BE(0);
    if (type === FRAME.ping) this.#pinged(id);
    else if (type === FRAME.synReply) this.#accepted(id, flags);
    else this.#wasReset(id);
  }

  /** Even ids are the server's, odd ones answers to ours, of which there are none. */
  #pinged(id: number): void {
    if (id % 2 === 0) this.#socket.write(ping(id));
  }

  #accepted(id: number, flags: number): void {
    const stream = this.#streams.get(id);
    stream?.accept();
    if ((flags & FLAG_FIN) !== 0) stream?.receiveEnd();
  }

  #wasReset(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.receiveReset();
  }

  // What goes out

  send(streamId: number, payload: Buffer, done: () => void): void {
    this.#socket.cork();
    let start = 0;
    do {
      const piece = payload.subarray(start, start + MAX_DATA_LENGTH);
      start += MAX_DATA_LENGTH;
      this.#socket.write(dataHeader(streamId, piece.length, false));
      this.#socket.write(piece, start < payload.length ? undefined : done);
    } while (start < payload.length);
    this.#socket.uncork();
  }

  fin(streamId: number, done: () => void): void {
    this.#socket.write(dataHeader(streamId, 0, true), done);
  }

  reset(streamId: number): void {
    if (this.#open && this.#socket.writable) this.#socket.write(rstStream(streamId));
  }

  behind(reader: SpdyStream | HeldObserver): void {
    this.#behind.add(reader);
    this.#socket.pause();
  }

  readable(reader: SpdyStream | HeldObserver): void {
    if (this.#behind.delete(reader) && this.#behind.size === 0) this.#socket.resume();
  }

  forget(stream: SpdyStream): void {
    this.#streams.delete(stream.id);
    this.readable(stream);
  }
}
