import {runInBackground} from '../base/async/background-work.js';
import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';
import {Duplex} from 'node:stream';
import type {Clock} from '../base/clock.js';
import type {TrackedConnection} from '../base/net/connection-tracker.js';
import {closeGracefully} from '../base/net/graceful-close.js';
import type {Schedule} from './turn-queue.js';

const NOTHING = Buffer.alloc(0);

/** Options of a {@link RequestGate}. */
export interface RequestGateOptions {
  readonly connection: TrackedConnection;
  /** Schedules the processing of received data. */
  readonly schedule: Schedule;
  readonly clock: Clock;
}

/**
 * Passes the data of a client to the HTTP server one request at a time: a request that follows another one waits in the
 * socket until the response has been sent. Without the gate, Node.js starts all requests that the client has sent ahead.
 * The socket keeps reading while a request is in progress until there is such data, and so notices a disconnect.
 */
export class RequestGate extends Duplex {
  readonly connection: TrackedConnection;
  readonly #socket: Socket;
  readonly #schedule: Schedule;
  readonly #clock: Clock;
  readonly #disconnected = new AbortController();
  /** Data that the HTTP server has not received. */
  #received: Buffer = NOTHING;
  /** Last two bytes of the head that the HTTP server is receiving. */
  #lineEnd = '';
  #isWanted = false;
  #isScheduled = false;
  #hasEnded = false;
  /** Last request, and its response, until the response is closed. */
  #current: {readonly request: IncomingMessage; readonly response: ServerResponse} | undefined;
  #isReleased = false;

  constructor({connection, schedule, clock}: RequestGateOptions) {
    // Without read-ahead, data reaches the HTTP server in this turn or waits in the gate.
    super({allowHalfOpen: true, readableHighWaterMark: 0});
    this.connection = connection;
    this.#socket = connection.socket;
    this.#schedule = schedule;
    this.#clock = clock;
    this.on('error', () => undefined); // 'close' follows
    this.#socket.on('readable', this.#receive).once('end', this.#end).once('close', this.#close);
  }

  get socket(): Socket {
    return this.#socket;
  }

  /**
   * Signal that aborts when the client closes the connection or its side of it, as the context of a request does in
   * net/http. After {@link release}, a half-closed connection is not regarded as disconnected.
   */
  get disconnected(): AbortSignal {
    return this.#disconnected.signal;
  }

  /** True while a request of this connection is in progress. */
  get isResponding(): boolean {
    return this.#current !== undefined;
  }

  /** Starts to respond to a request when the response to the previous one is closed; holds later requests. */
  startRequest(request: IncomingMessage, response: ServerResponse, respond: () => void): void {
    const previous = this.#current;
    this.#current = {request, response};
    response.once('close', () => {
      if (this.#current?.response !== response) return;
      this.#current = undefined;
      this.#takeTurn();
    });
    if (previous === undefined) respond();
    else
      previous.response.once('close', () => {
        if (!this.destroyed) respond();
      });
  }

  /** Detaches the gate from its socket. Returns the socket with the data that has not been received. */
  release(): {readonly socket: Socket; readonly unread: Buffer} {
    const unread = this.#received;
    this.#isReleased = true;
    this.#received = NOTHING;
    this.#socket.off('readable', this.#receive).off('end', this.#end);
    this.destroy();
    return {socket: this.#socket, unread};
  }

  readonly #receive = (): void => {
    if (this.#isReleased || this.#received.length > 0) return;
    this.#received = (this.#socket.read() as Buffer | null) ?? NOTHING;
    this.#takeTurn();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#disconnected.abort();
    this.#takeTurn();
  };

  readonly #close = (): void => {
    this.#disconnected.abort();
    this.destroy();
  };

  /** Reports whether there is data, or its end, that the HTTP server can take. */
  #isReady(): boolean {
    if (!this.#isWanted || this.destroyed || this.#current?.request.complete === true) return false;
    return this.#received.length > 0 || this.#hasEnded;
  }

  #takeTurn(): void {
    if (this.#isScheduled || !this.#isReady()) return;
    this.#isScheduled = true;
    this.#schedule(() => {
      this.#isScheduled = false;
      if (this.#isReady()) this.#forward();
    });
  }

  #forward(): void {
    this.#isWanted = false;
    if (this.#received.length === 0) {
      this.push(null);
      return;
    }
    const headEnd = firstHeadEnd(this.#lineEnd, this.#received);
    const part = this.#received.subarray(0, headEnd);
    this.#received = this.#received.subarray(part.length);
    this.#lineEnd = headEnd === undefined ? lastBytes(this.#lineEnd, part) : '';
    this.push(part);
    this.#receive();
  }

  override _read(): void {
    this.#isWanted = true;
    this.#takeTurn();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: readonly {readonly chunk: Buffer}[], done: (error?: Error | null) => void): void {
    this.#socket.cork();
    for (const [index, {chunk}] of chunks.entries())
      this.#socket.write(chunk, index === chunks.length - 1 ? done : undefined);
    this.#socket.uncork();
  }

  override _final(done: () => void): void {
    done();
    if (!this.#isReleased)
      runInBackground('HTTP server', closeGracefully(this.release().socket, this.#clock));
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isReleased) this.#socket.destroy();
    done(error);
  }
}

/**
 * Returns the end of the first empty line, which ends the head of a request. No more than one head ends in the data
 * before it. The line can begin in `before`, the last bytes of the previous data.
 */
function firstHeadEnd(before: string, data: Buffer): number | undefined {
  const joint = before === '' ? null : /\n\r?\n/.exec(before + data.toString('latin1', 0, 2));
  if (joint !== null) return joint.index + joint[0].length - before.length;
  for (let lineEnd = data.indexOf('\n'); lineEnd !== -1; lineEnd = data.indexOf('\n', lineEnd + 1)) {
    const next = data[lineEnd + 1] === 0x0d ? lineEnd + 2 : lineEnd + 1;
    if (data[next] === 0x0a) return next + 1;
  }
  return undefined;
}

function lastBytes(before: string, data: Buffer): string {
  return (before + data.subarray(-2).toString('latin1')).slice(-2);
}
