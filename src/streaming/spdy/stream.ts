import {Duplex} from 'node:stream';
import type {Hold} from '../held-buffers.js';
import {pourStream, type PourTarget, type RemoteOutput} from '../remote-output.js';

/** What a reader may be behind before the connection stops reading. */
const READ_AHEAD = 1024 * 1024;

/** What a stream needs of its connection. */
export interface StreamLink {
  /** Sends a payload; `done` is called when the system has taken it. */
  send(streamId: number, payload: Buffer, done: () => void): void;
  fin(streamId: number, done: () => void): void;
  reset(streamId: number): void;
  /** The stream's reader is behind: nothing more must come until `readable`. */
  behind(stream: SpdyStream): void;
  readable(stream: SpdyStream): void;
  /** The stream is destroyed. */
  forget(stream: SpdyStream): void;
}

/**
 * One stream of a SPDY connection. Both directions end on their own (`end()`, and the 'end' event). When the
 * other side gives the stream up or the connection breaks, what came before can still be read, then it ends;
 * what is written then is dropped. Destroying it gives it up.
 */
export class SpdyStream extends Duplex implements RemoteOutput {
  readonly id: number;
  readonly #link: StreamLink;
  /** The server has accepted the stream. It drops what comes before that. */
  #open = false;
  #gone = false;
  #ended = false;
  #target: PourTarget | undefined;
  #acknowledge: (() => void) | undefined;
  #decide: (accepted: boolean) => void = () => undefined;
  /** Resolves when the server has accepted the stream, or with false when it is gone before that. */
  readonly accepted = new Promise<boolean>((resolve) => {
    this.#decide = resolve;
  });
  /** Bytes that the system has taken. */
  bytesSent = 0;

  constructor(id: number, link: StreamLink, {writable = true} = {}) {
    const options = {readableHighWaterMark: READ_AHEAD, writableHighWaterMark: READ_AHEAD, writable};
    super(options);
    this.id = id;
    this.#link = link;
  }

  /** The server has accepted the stream. */
  accept(): void {
    this.#open = true;
    this.#decide(true);
  }

  /** With `hold` the piece's memory is used again unless it is held. */
  receive(piece: Buffer, hold: Hold | undefined): void {
    if (this.#ended) return;
    // In order: what waits to be read goes first.
    if (hold !== undefined && this.#target !== undefined && this.readableLength === 0)
      this.#target.write(piece, hold());
    else if (!this.push(hold === undefined ? piece : Buffer.from(piece))) this.#link.behind(this);
  }

  async pour(target: PourTarget): Promise<void> {
    this.#target = target;
    await pourStream(this, target);
  }

  receiveEnd(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.push(null);
  }

  /** The other side takes nothing more and sends nothing more. */
  receiveReset(): void {
    this.#gone = true;
    this.receiveEnd();
    this.#decide(false);
    this.#acknowledge?.();
  }

  /** True when the other side has given the stream up, or the connection is gone. */
  get isGone(): boolean {
    return this.#gone;
  }

  override _read(): void {
    this.#link.readable(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#whenOpen(callback, (done) => {
      this.#link.send(this.id, chunk, () => {
        this.bytesSent += chunk.length;
        done();
      });
    });
  }

  override _final(callback: () => void): void {
    this.#whenOpen(callback, (done) => {
      this.#link.fin(this.id, done);
    });
  }

  /** Acts as soon as the stream is open; not at all when it is gone. Node.js asks for one thing at a time. */
  #whenOpen(callback: () => void, act: (done: () => void) => void): void {
    const acknowledge = (): void => {
      if (this.#acknowledge !== acknowledge) return;
      this.#acknowledge = undefined;
      callback();
    };
    this.#acknowledge = acknowledge;
    const start = (): void => {
      if (this.#gone) acknowledge();
      else act(acknowledge);
    };
    if (this.#open || this.#gone) start();
    else void this.accepted.then(start);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#gone && !(this.#ended && this.writableFinished)) this.#link.reset(this.id);
    this.#link.forget(this);
    callback(error);
  }
}
