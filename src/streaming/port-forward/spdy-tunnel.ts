import {parseStreamingAddress} from '../session/streaming-address.js';
import type {DialOptions} from '../session/session.js';
import type {SpdyConnection} from '../spdy/spdy-connection.js';
import {dialSpdy} from '../spdy/dial-spdy.js';
import type {SpdyStream} from '../spdy/spdy-stream.js';
import {ConnectionPool, type Poolable} from './connection-pool.js';
import {readBoundedText} from '../session/read-bounded-text.js';
import {SharedDeadline} from './shared-deadline.js';
import type {RemoteEnd, RemoteFailure, PortForwardUrl, Tunnel} from './tunnel.js';

const PROTOCOL = 'portforward.k8s.io';
/** Maximum number of connections: more than needed in practice, within the limits of file descriptors. */
const MAX_CONNECTIONS = 1000;
const IDLE_MS = 30_000;
/** Time within which a reused connection must accept new streams, in ms. */
const REUSE_LIMIT_MS = 500;

/**
 * Tunnel over SPDY. Each forwarded connection uses a separate SPDY connection: without flow control in SPDY, a slow
 * reader or a pod that is slow to accept would block all others on a shared connection.
 */
export class SpdyTunnel implements Tunnel {
  readonly lost: Promise<void>;
  readonly #pool: ConnectionPool<Lease>;
  readonly #deadline: SharedDeadline;

  constructor(url: PortForwardUrl, options: DialOptions) {
    let lose: () => void = () => undefined;
    this.lost = new Promise((resolve) => (lose = resolve));
    this.#deadline = new SharedDeadline(REUSE_LIMIT_MS, options.clock);
    this.#pool = new ConnectionPool({
      open: async () => new Lease(await dial(await url([]), options), lose),
      limit: MAX_CONNECTIONS,
      idleMs: IDLE_MS,
      clock: options.clock,
    });
  }

  /** Opens a connection for the first use, which checks that the server supports SPDY. */
  async probe(): Promise<void> {
    const {item} = await this.#pool.lease();
    this.#pool.release(item);
  }

  async connect(port: number): Promise<RemoteEnd> {
    for (;;) {
      const {item, reused} = await this.#pool.lease();
      const end = await this.#open(item, port, reused);
      if (end !== undefined) return end;
      // Data of an earlier use blocks the connection, or it has just been closed. Nothing was sent over it.
      this.#pool.discard(item);
    }
  }

  close(): void {
    this.#deadline.close();
    this.#pool.close();
  }

  async #open(item: Lease, port: number, reused: boolean): Promise<RemoteEnd | undefined> {
    try {
      const pair = item.openPair(port);
      return reused && !(await this.#isAccepted(pair)) ? undefined : this.#remoteEnd(item, pair);
    } catch (error) {
      if (reused) return undefined;
      this.#pool.discard(item);
      throw error;
    }
  }

  async #isAccepted({data, error}: Pair): Promise<boolean> {
    const answers = Promise.all([data.accepted, error.accepted]);
    const accepted = await this.#deadline.wait(answers);
    return accepted?.every(Boolean) ?? false;
  }

  #remoteEnd(item: Lease, {data, error}: Pair): RemoteEnd {
    let isIntact = false;
    const done = failureOf(error).then((failure) => {
      isIntact = failure?.kind !== 'lost';
      return failure;
    });
    const close = (): void => {
      const reusable = isIntact && data.readableEnded;
      data.destroy();
      error.destroy();
      if (reusable) this.#pool.release(item);
      else this.#pool.discard(item);
    };
    return {data, done, close};
  }
}

/** Both streams of a forwarded connection. */
interface Pair {
  readonly data: SpdyStream;
  readonly error: SpdyStream;
}

/** SPDY connection in the pool. */
class Lease implements Poolable {
  readonly #connection: SpdyConnection;
  #requests = 0;
  #closed = false;

  constructor(connection: SpdyConnection, lost: () => void) {
    this.#connection = connection;
    // Never rejects.
    void connection.closed.then(() => {
      if (!this.#closed) lost();
    });
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  openPair(port: number): Pair {
    const headers = {port: String(port), requestid: String(this.#requests)};
    this.#requests += 1;
    const connection = this.#connection;
    return connection.corked(() => ({
      // This side sends nothing on the error stream.
      error: connection.openStream({...headers, streamtype: 'error'}, {writable: false}),
      data: connection.openStream({...headers, streamtype: 'data'}),
    }));
  }

  close(): void {
    this.#closed = true;
    this.#connection.close();
  }
}

async function dial(url: string, options: DialOptions): Promise<SpdyConnection> {
  const {connection} = await dialSpdy(parseStreamingAddress(url), [PROTOCOL], options);
  return connection;
}

async function failureOf(error: SpdyStream): Promise<RemoteFailure | undefined> {
  const message = await readBoundedText(error);
  if (message !== '') return {kind: 'refused', message};
  return error.isClosedByPeer ? {kind: 'lost'} : undefined;
}
