import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {createServer, type AddressInfo, type Server, type Socket} from 'node:net';
import {startStallTolerantTimer} from '../../base/async/timer.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {closeGracefully} from '../../base/net/graceful-close.js';
import {joinHostPort} from '../../base/net/join-host-port.js';
import {createBackendDialOptions, resolveBackendAddress} from '../../streaming/session/local-backend.js';
import {StreamingError} from '../../streaming/session/errors.js';
import type {StreamingAddress} from '../../streaming/session/streaming-address.js';
import {connectSocket} from '../../streaming/socket/connect-socket.js';
import {passBytes} from '../tap/pass-bytes.js';
import type {Side} from '../tap/connection-tap.js';
import {formatRequestHead, headerOf, HttpHeadReader, pathOf, type HttpHead} from './http-head.js';
import type {OfferedSession, SessionEnd, SessionRecorder} from './session-recorder.js';
import {SessionTap} from './session-tap.js';

/** Options of a relay of sessions. */
export interface SessionRelayOptions {
  readonly recorder: SessionRecorder;
  readonly clock: Clock;
}

const HOST = '127.0.0.1';
/** Time for which a URL can be used, in ms; as with the streaming servers of runtimes. */
const VALID_MS = 60_000;
/** Maximum number of URLs that wait for their use. */
const MAX_OFFERS = 1000;
/** Maximum number of connections: any process of the machine can connect. */
const MAX_CONNECTIONS = 1000;
/** Time for a client to send its request, in ms. */
const REQUEST_MS = 10_000;
/** Shortest token, in characters of six bits: that of the runtimes' own URLs. */
const MIN_TOKEN = 8;

interface Offer extends OfferedSession {
  readonly address: StreamingAddress;
  /** End of its validity, in monotonic ms. */
  readonly endsAt: number;
}

/**
 * Listens on loopback for the sessions of exec, attach and port-forward, and passes the bytes of each to the runtime's
 * streaming server and back. Each URL can be used once.
 */
export class SessionRelay {
  readonly #options: SessionRelayOptions;
  readonly #server: Server;
  readonly #offers = new Map<string, Offer>();
  readonly #closed = new AbortController();
  readonly #sockets = new Set<Socket>();
  /** Ends of the sessions that are open. */
  readonly #open = new Set<(by: SessionEnd['by']) => void>();

  private constructor(options: SessionRelayOptions) {
    this.#options = options;
    this.#server = createServer({allowHalfOpen: true}, (client) => {
      // Never rejects: whatever fails is in the recording.
      void this.#serve(client);
    });
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  /** Listens on a free port. Rejects with the error of the system. */
  static async listen(options: SessionRelayOptions): Promise<SessionRelay> {
    const relay = new SessionRelay(options);
    relay.#server.listen(0, HOST);
    await once(relay.#server, 'listening');
    return relay;
  }

  /**
   * Returns a URL of this relay, of the same length, for a session at the runtime's URL; undefined, and a line in the
   * recording, if there is none.
   */
  offer(session: OfferedSession, url: string): string | undefined {
    const {recorder, clock} = this.#options;
    try {
      const address = resolveBackendAddress(url);
      const path = this.#newPath(session.method, Buffer.byteLength(url));
      const endsAt = clock.monotonic() + VALID_MS;
      this.#makeRoom(clock.monotonic());
      this.#offers.set(path, {...session, address, endsAt});
      return `${this.#origin}${path}`;
    } catch (error) {
      if (!(error instanceof StreamingError)) throw error;
      recorder.skip(session, error.message);
      return undefined;
    }
  }

  get #origin(): string {
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns a path with which a URL has the length. Throws StreamingError if the length is too short. */
  #newPath(method: string, length: number): string {
    const room = length - this.#origin.length;
    // The usual prefix, by which logs recognize what must be masked.
    const prefixes = [`/${method.toLowerCase()}/`, '/'];
    const prefix = prefixes.find((each) => room - each.length >= MIN_TOKEN);
    if (prefix === undefined)
      throw new StreamingError("the runtime's streaming URL is too short to be replaced");
    const size = room - prefix.length;
    return prefix + randomBytes(size).toString('base64url').slice(0, size);
  }

  #makeRoom(now: number): void {
    for (const [path, {endsAt}] of this.#offers)
      if (endsAt < now || this.#offers.size >= MAX_OFFERS) this.#offers.delete(path);
  }

  async #serve(client: Socket): Promise<void> {
    this.#add(client);
    const head = await readHead(client);
    const path = head === undefined ? undefined : pathOf(head);
    const offer = path === undefined ? undefined : this.#take(path);
    if (head === undefined || offer === undefined) await this.#refuse(client, 404, 'Not Found');
    else await this.#relay(client, head, offer);
  }

  /** Adds a socket that ends with the relay. */
  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined); // 'close' follows
    socket.once('close', () => this.#sockets.delete(socket));
  }

  #take(path: string): Offer | undefined {
    const offer = this.#offers.get(path);
    this.#offers.delete(path);
    return offer !== undefined && offer.endsAt >= this.#options.clock.monotonic() ? offer : undefined;
  }

  async #relay(client: Socket, head: HttpHead, offer: Offer): Promise<void> {
    const {recorder, clock} = this.#options;
    const {signal} = this.#closed;
    const {address} = offer;
    const session = recorder.start(offer, headerOf(head, 'upgrade'));
    const tap = new SessionTap(session, head, offer.method);
    const end = (by: SessionEnd['by'], error?: string): void => {
      this.#open.delete(end);
      const {status, subprotocol, isUnreadable} = tap;
      session.end({by, status, subprotocol, isUnreadable, error});
    };
    this.#open.add(end);
    let backend: Socket;
    try {
      backend = await connectSocket(address, createBackendDialOptions({clock, signal}));
    } catch (error) {
      end('runtime', messageOf(error));
      await this.#refuse(client, 502, 'Bad Gateway', messageOf(error));
      return;
    }
    this.#add(backend);
    if (client.destroyed) {
      end('client');
      backend.destroy();
      return;
    }
    backend.write(formatRequestHead(head, {path: address.path, host: joinHostPort(address)}));
    passSession({client, server: backend}, {tap, end, clock});
    if (head.rest.length > 0) client.unshift(head.rest);
    client.resume();
  }

  /** Answers a request with a status, and closes the connection, with a limit of time for the client. */
  async #refuse(client: Socket, status: number, reason: string, body = ''): Promise<void> {
    client.write(formatRefusal(status, reason, body));
    await closeGracefully(client, this.#options.clock);
  }

  /** Accepts no more sessions and ends all. */
  close(): void {
    this.#server.close();
    this.#closed.abort();
    for (const end of this.#open) end('recording');
    for (const socket of this.#sockets) socket.destroy();
  }
}

interface PassedSession {
  readonly tap: SessionTap;
  /** Called with the side that ended first. */
  readonly end: (by: 'client' | 'runtime') => void;
  readonly clock: Clock;
}

/** Passes the bytes of both directions until one side is closed. */
function passSession(sockets: Readonly<Record<Side, Socket>>, {tap, end, clock}: PassedSession): void {
  const names = {client: 'client', server: 'runtime'} as const;
  let first: 'client' | 'runtime' | undefined;
  const pass = (from: Side, to: Side): void => {
    passBytes(sockets[from], sockets[to], {
      write: (chunk) => {
        const isTaken = sockets[to].write(chunk);
        tap.read(from, chunk);
        return isTaken;
      },
      onEnd: () => {
        first ??= names[from];
      },
      onClose: () => {
        end(first ?? names[from]);
      },
      clock,
    });
  };
  pass('client', 'server');
  pass('server', 'client');
}

/** Reads the head of a client's request and pauses the socket. Resolves with undefined if there is none in time. */
async function readHead(client: Socket): Promise<HttpHead | undefined> {
  const reader = new HttpHeadReader();
  return await new Promise((resolve) => {
    const finish = (head: HttpHead | undefined): void => {
      cancel();
      client.off('data', onData).off('close', onClose).off('end', onClose).pause();
      resolve(head);
    };
    const onData = (chunk: Buffer): void => {
      const head = reader.push(chunk);
      if (head !== undefined) finish(head === 'too long' ? undefined : head);
    };
    const onClose = (): void => {
      finish(undefined);
    };
    const cancel = startStallTolerantTimer(REQUEST_MS, onClose);
    client.on('data', onData).on('close', onClose).on('end', onClose);
  });
}

function formatRefusal(status: number, reason: string, body: string): string {
  const length = Buffer.byteLength(body);
  return `HTTP/1.1 ${status} ${reason}\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${body}`;
}
