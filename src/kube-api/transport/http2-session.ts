import http2, {type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders} from 'node:http2';
import type {TLSSocket} from 'node:tls';
import {onAbort} from '../../base/async/abort-callbacks.js';
import {pause} from '../../base/async/pause.js';
import {finishesWithin} from '../../base/async/deadline.js';
import {startTimer} from '../../base/async/timer.js';
import type {Clock} from '../../base/clock.js';
import {hasErrno, SystemError} from '../../base/errors.js';
import {StaleConnectionError, type WireRequest, type WireResponse} from './transport.js';

/**
 * Time between pings and time for the answer, in ms. A dead connection is found within their sum, 25 s; a kubelet takes 45 s
 * (HTTP2_READ_IDLE_TIMEOUT_SECONDS, HTTP2_PING_TIMEOUT_SECONDS).
 */
export const PING_PERIOD_MS = 15_000;
export const PING_TIMEOUT_MS = 10_000;
/** Data that the server may send before it is read, in bytes: of one stream, and of all streams. */
const STREAM_WINDOW_BYTES = 1024 * 1024;
const SESSION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Number of requests at a time before the server has said how many it accepts, and the most that are sent. */
const MAX_STREAMS = 100;
const MOST_STREAMS = 1000;
const {NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM} = http2.constants;

/** Requests on one HTTP/2 connection, which is probed with pings. */
export class Http2Session {
  readonly #session: ClientHttp2Session;
  readonly #ended = new AbortController();
  #streams = 0;
  #requests = 0;

  constructor(socket: TLSSocket, {authority, clock}: {readonly authority: string; readonly clock: Clock}) {
    this.#session = http2.connect(`https://${authority}`, {
      createConnection: () => socket,
      settings: {enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES},
      peerMaxConcurrentStreams: MAX_STREAMS,
    });
    this.#session
      .once('connect', () => {
        this.#session.setLocalWindowSize(SESSION_WINDOW_BYTES);
      })
      // The streams have the error too.
      .on('error', () => undefined)
      .once('close', () => {
        this.#ended.abort();
      });
    this.#probe(clock).catch(() => undefined); // ended
  }

  /** Reports whether another request can be sent: the server accepts more, and has not said that it goes away. */
  get isAvailable(): boolean {
    const {closed, destroyed, remoteSettings} = this.#session;
    const accepted = remoteSettings.maxConcurrentStreams ?? MAX_STREAMS;
    return !closed && !destroyed && this.#streams < Math.min(accepted, MOST_STREAMS);
  }

  /** Reports whether no request can be sent, now and later. */
  get hasEnded(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  /** Sends a request; see Transport. */
  async send(request: WireRequest, signal: AbortSignal): Promise<WireResponse> {
    const {method, path, headers, body, timeoutMs} = request;
    const isFirst = this.#requests === 0;
    this.#requests += 1;
    const stream = this.#session.request(
      {':method': method, ':path': path, ...headers},
      {endStream: body === undefined},
    );
    this.#streams += 1;
    const forget = onAbort(signal, () => {
      stream.destroy(signal.reason as Error);
    });
    stream.once('close', () => {
      this.#streams -= 1;
      forget();
    });
    if (body !== undefined) stream.end(body);
    try {
      return toWireResponse(stream, await readHead(stream, timeoutMs));
    } catch (error) {
      signal.throwIfAborted();
      throw wasRefused(stream) || (!isFirst && hasErrno(error, 'ECONNRESET', 'EPIPE'))
        ? new StaleConnectionError((error as Error).message, {cause: error})
        : error;
    }
  }

  close(): void {
    this.#session.destroy();
  }

  /** Pings the server periodically, and ends the session if a ping is not answered. */
  async #probe(clock: Clock): Promise<void> {
    const {signal} = this.#ended;
    for (;;) {
      await pause(clock, PING_PERIOD_MS, signal);
      const answered = new Promise<void>((resolve) => {
        this.#session.ping(() => {
          resolve();
        });
      });
      if (await finishesWithin(answered, PING_TIMEOUT_MS, clock, signal)) continue;
      const problem = `the API server did not answer a ping within ${PING_TIMEOUT_MS / 1000} s`;
      this.#session.destroy(new SystemError(problem));
    }
  }
}

async function readHead(stream: ClientHttp2Stream, timeoutMs: number): Promise<IncomingHttpHeaders> {
  const cancelTimer = startTimer(timeoutMs, () => {
    stream.close(NGHTTP2_CANCEL);
    stream.destroy(new SystemError(`no response within ${timeoutMs / 1000} s`));
  });
  try {
    return await new Promise<IncomingHttpHeaders>((resolve, reject) => {
      stream.once('response', resolve).on('error', reject);
      stream.once('close', () => {
        reject(new SystemError('the API server ended the request without a response'));
      });
    });
  } finally {
    cancelTimer();
  }
}

/** Reports whether the server has refused a request without looking at it, since it goes away. */
function wasRefused({rstCode}: ClientHttp2Stream): boolean {
  return rstCode === NGHTTP2_REFUSED_STREAM;
}

function toWireResponse(stream: ClientHttp2Stream, head: IncomingHttpHeaders): WireResponse {
  return {
    status: Number(head[':status']),
    header: (name) => {
      const value = head[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: stream,
    destroy: (error) => {
      if (!stream.closed) stream.close(NGHTTP2_CANCEL);
      stream.destroy(error);
    },
  };
}
