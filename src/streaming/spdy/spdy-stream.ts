import {Duplex} from 'node:stream';
import type {RetainBuffer} from '../socket/read-buffer-pool.js';
import type {InputGate} from '../session/input-gate.js';
import {pipeReadableTo, type OutputTarget, type RemoteOutput} from '../session/remote-output.js';

/** Number of bytes that a reader may lag before the connection stops reading. */
const READ_AHEAD = 1024 * 1024;

/** Functions of the connection that a stream uses. */
export interface StreamTransport {
  /** Sends a payload; `done` is called when the system has taken it. */
  send(streamId: number, payload: Buffer, done: () => void): void;
  fin(streamId: number, done: () => void): void;
  reset(streamId: number): void;
  /** Pauses reading until `resumeReading`, because the reader lags. */
  pauseReading(stream: SpdyStream): void;
  resumeReading(stream: SpdyStream): void;
  /** Called when the stream is destroyed. */
  forget(stream: SpdyStream): void;
}

/**
 * Stream of a SPDY connection. The directions end independently (`end()`, and the 'end' event). If the peer resets the
 * stream or the connection is lost, received data can still be read before the stream ends, and further writes are
 * dropped. Destroying the stream resets it.
 */
export class SpdyStream extends Duplex implements RemoteOutput {
  readonly id: number;
  readonly #link: StreamTransport;
  /** True if the server has accepted the stream; it drops data sent before. */
  #open = false;
  #closedByPeer = false;
  #ended = false;
  #target: OutputTarget | undefined;
  #acknowledge: (() => void) | undefined;
  #resolveAccepted: (accepted: boolean) => void = () => undefined;
  /** Resolves with true when the server has accepted the stream, or with false if it was closed before. */
  readonly accepted = new Promise<boolean>((resolve) => {
    this.#resolveAccepted = resolve;
  });
  /** Number of bytes that the system has taken. */
  bytesSent = 0;
  /** Gate that data passes before it is sent. */
  gate: InputGate | undefined;

  constructor(id: number, link: StreamTransport, {writable = true} = {}) {
    const options = {readableHighWaterMark: READ_AHEAD, writableHighWaterMark: READ_AHEAD, writable};
    super(options);
    this.id = id;
    this.#link = link;
  }

  /** Marks the stream as accepted by the server. */
  accept(): void {
    this.#open = true;
    this.#resolveAccepted(true);
  }

  /** Receives data. With `retain`, its memory is reused unless retained. */
  receive(chunk: Buffer, retain: RetainBuffer | undefined): void {
    if (this.#ended) return;
    // Buffered data must be read first.
    if (retain !== undefined && this.#target !== undefined && this.readableLength === 0)
      this.#target.write(chunk, retain());
    else if (!this.push(retain === undefined ? chunk : Buffer.from(chunk))) this.#link.pauseReading(this);
  }

  async pipeTo(target: OutputTarget): Promise<void> {
    this.#target = target;
    await pipeReadableTo(this, target);
  }

  receiveEnd(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.push(null);
  }

  /** Called when the peer has closed both directions. */
  receiveReset(): void {
    this.#closedByPeer = true;
    this.receiveEnd();
    this.#resolveAccepted(false);
    this.#acknowledge?.();
  }

  /** True if the peer has reset the stream, or the connection is lost. */
  get isClosedByPeer(): boolean {
    return this.#closedByPeer;
  }

  override _read(): void {
    this.#link.resumeReading(this);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#whenOpen(callback, (done) => {
      if (this.gate === undefined) this.#send(chunk, done);
      else this.gate.pass(chunk, this.#send, done);
    });
  }

  readonly #send = (part: Buffer, done: () => void): void => {
    if (this.#closedByPeer || this.destroyed) return;
    this.#link.send(this.id, part, () => {
      this.bytesSent += part.length;
      done();
    });
  };

  override _final(callback: () => void): void {
    this.#whenOpen(callback, (done) => {
      this.#link.fin(this.id, done);
    });
  }

  /** Calls `act` when the stream is open, or never if it was closed. Node.js runs one operation at a time. */
  #whenOpen(callback: () => void, act: (done: () => void) => void): void {
    const acknowledge = (): void => {
      if (this.#acknowledge !== acknowledge) return;
      this.#acknowledge = undefined;
      callback();
    };
    this.#acknowledge = acknowledge;
    const start = (): void => {
      if (this.#closedByPeer) acknowledge();
      else act(acknowledge);
    };
    if (this.#open || this.#closedByPeer) start();
    else void this.accepted.then(start);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    if (!this.#closedByPeer && !(this.#ended && this.writableFinished)) this.#link.reset(this.id);
    this.#link.forget(this);
    callback(error);
  }
}
