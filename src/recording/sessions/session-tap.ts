import type {Side} from '../tap/connection-tap.js';
import {HttpHeadReader, headerOf, statusOf, type HttpHead} from './http-head.js';
import type {ProtocolTap, SessionSink} from './session-sink.js';
import {SpdyTap} from './spdy-tap.js';
import {WebSocketTap} from './websocket-tap.js';

/** Status of a response that switches the protocol. */
const SWITCHING_PROTOCOLS = 101;

/** Reads along on the connection of a session, after the head of its request. */
export class SessionTap {
  readonly #response = new HttpHeadReader();
  #protocol: ProtocolTap | undefined;
  #status: number | undefined;
  #subprotocol: string | undefined;
  #isUnreadable = false;

  /** `method` is that of the call which answered with the URL. */
  constructor(sink: SessionSink, request: HttpHead, method: string) {
    const upgrade = headerOf(request, 'upgrade')?.toLowerCase() ?? '';
    if (upgrade.startsWith('spdy/')) this.#protocol = new SpdyTap(sink);
    else if (upgrade === 'websocket')
      this.#protocol = new WebSocketTap(sink, {forwardsPorts: method === 'PortForward'});
    else this.#isUnreadable = true;
  }

  /** Status of the response; undefined before it. */
  get status(): number | undefined {
    return this.#status;
  }

  /** Subprotocol that the runtime has chosen. */
  get subprotocol(): string | undefined {
    return this.#subprotocol;
  }

  /** True if what was sent is not, or not any more, read along. */
  get isUnreadable(): boolean {
    return this.#isUnreadable || this.#protocol?.isUnreadable === true;
  }

  read(from: Side, chunk: Buffer): void {
    try {
      if (from === 'server' && this.#status === undefined) this.#readResponse(chunk);
      else this.#protocol?.read(from, chunk);
    } catch {
      // The bytes are passed on all the same.
      this.#protocol = undefined;
      this.#isUnreadable = true;
    }
  }

  #readResponse(chunk: Buffer): void {
    const head = this.#response.push(chunk);
    if (head === undefined) return;
    this.#status = head === 'too long' ? 0 : (statusOf(head) ?? 0);
    if (head === 'too long' || this.#status !== SWITCHING_PROTOCOLS) {
      this.#protocol = undefined;
      return;
    }
    this.#subprotocol =
      headerOf(head, 'x-stream-protocol-version') ?? headerOf(head, 'sec-websocket-protocol');
    if (head.rest.length > 0) this.#protocol?.read('server', head.rest);
  }
}
