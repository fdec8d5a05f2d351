import type {TLSSocket} from 'node:tls';
import {abortable} from '../../base/async/abortable.js';
import type {Clock} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {Http2Session} from './http2-session.js';
import type {Transport, WireRequest, WireResponse} from './transport.js';

/** Options of {@link Http2Transport}. */
export interface Http2TransportOptions {
  /** Host and port of the server. */
  readonly authority: string;
  /** Opens a connection on which HTTP/2 was negotiated. */
  readonly open: () => Promise<TLSSocket>;
  readonly clock: Clock;
}

/** Maximum number of connections; a server accepts at least 100 requests at a time on each. */
const MAX_SESSIONS = 64;

/** Sends all requests over one HTTP/2 connection, and over further ones if the server limits their number on each. */
export class Http2Transport implements Transport {
  readonly #options: Http2TransportOptions;
  #sessions: readonly Http2Session[] = [];
  #opening: Promise<Http2Session> | undefined;
  #isClosed = false;

  /** `first` is an open connection, which is used before others. */
  constructor(first: TLSSocket, options: Http2TransportOptions) {
    this.#options = options;
    this.#sessions = [new Http2Session(first, options)];
  }

  async send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    for (;;) {
      this.#sessions = this.#sessions.filter(({hasEnded}) => !hasEnded);
      const free = this.#sessions.find(({isAvailable}) => isAvailable);
      const last = this.#sessions.length === MAX_SESSIONS ? this.#sessions.at(-1) : undefined;
      const session = free ?? last;
      if (session !== undefined) return await session.send(request, signal);
      // Others may have filled the new connection when it is open.
      await abortable(this.#open(), signal);
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions) session.close();
    this.#sessions = [];
  }

  async #open(): Promise<void> {
    this.#opening ??= this.#openSession().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #openSession(): Promise<Http2Session> {
    const session = new Http2Session(await this.#options.open(), this.#options);
    if (this.#isClosed) {
      session.close();
      throw new SystemError('the connections to the API server were closed');
    }
    this.#sessions = [...this.#sessions, session];
    return session;
  }
}
