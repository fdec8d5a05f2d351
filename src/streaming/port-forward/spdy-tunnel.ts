import {streamingAddress} from '../address.js';
import type {DialOptions} from '../session.js';
import type {SpdyConnection} from '../spdy/connection.js';
import {dialSpdy} from '../spdy/dial.js';
import type {SpdyStream} from '../spdy/stream.js';
import {ConnectionPool, type Pooled} from './connection-pool.js';
import {boundedText} from '../bounded-text.js';
import {Patience} from './patience.js';
import type {FarEnd, FarFailure, PortForwardUrl, Tunnel} from './tunnel.js';

const PROTOCOL = 'portforward.k8s.io';
/** More than anybody forwards at once, and few enough file descriptors. */
const MAX_CONNECTIONS = 1000;
const IDLE_MS = 30_000;
/** A connection that was used before and is in order accepts new streams at once. */
const REUSE_LIMIT_MS = 500;

/**
 * Port-forward over SPDY. Each forwarded connection has a SPDY connection of its own for as long as it lives:
 * SPDY has no flow control here, so that on a shared one a slow reader would hold up all the others, and so
 * would a pod that is slow to accept.
 */
export class SpdyTunnel implements Tunnel {
  readonly lost: Promise<void>;
  readonly #pool: ConnectionPool<Lease>;
  readonly #patience: Patience;

  constructor(url: PortForwardUrl, options: DialOptions) {
    let lose: () => void = () => undefined;
    this.lost = new Promise((resolve) => (lose = resolve));
    this.#patience = new Patience(REUSE_LIMIT_MS, options.clock);
    this.#pool = new ConnectionPool({
      open: async () => new Lease(await dial(await url([]), options), lose),
      limit: MAX_CONNECTIONS,
      idleMs: IDLE_MS,
      clock: options.clock,
    });
  }

  /** Opens a connection for the first that needs one, and so finds out whether there can be any. */
  async probe(): Promise<void> {
    const {item} = await this.#pool.lease();
    this.#pool.release(item);
  }

  async connect(port: number): Promise<FarEnd> {
    for (;;) {
      const {item, reused} = await this.#pool.lease();
      const end = await this.#open(item, port, reused);
      if (end !== undefined) return end;
      // What an earlier use has left behind holds it up, or it has just ended; nothing was sent over it.
      this.#pool.discard(item);
    }
  }

  close(): void {
    this.#patience.close();
    this.#pool.close();
  }

  async #open(item: Lease, port: number, reused: boolean): Promise<FarEnd | undefined> {
    try {
      const pair = item.openPair(port);
      return reused && !(await this.#isAccepted(pair)) ? undefined : this.#farEnd(item, pair);
    } catch (error) {
      if (reused) return undefined;
      this.#pool.discard(item);
      throw error;
    }
  }

  async #isAccepted({data, error}: Pair): Promise<boolean> {
    const answers = Promise.all([data.accepted, error.accepted]);
    const accepted = await this.#patience.wait(answers);
    return accepted?.every(Boolean) ?? false;
  }

  #farEnd(item: Lease, {data, error}: Pair): FarEnd {
    let inOrder = false;
    const done = failureOf(error).then((failure) => {
      inOrder = failure?.kind !== 'lost';
      return failure;
    });
    const close = (): void => {
      const reusable = inOrder && data.readableEnded;
      data.destroy();
      error.destroy();
      if (reusable) this.#pool.release(item);
      else this.#pool.discard(item);
    };
    return {data, done, close};
  }
}

/** The two streams of one forwarded connection. */
interface Pair {
  readonly data: SpdyStream;
  readonly error: SpdyStream;
}

/** A SPDY connection in the pool. */
class Lease implements Pooled {
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
    return connection.atOnce(() => ({
      // Nothing is ever said on it from this side.
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
  const {connection} = await dialSpdy(streamingAddress(url), [PROTOCOL], options);
  return connection;
}

async function failureOf(error: SpdyStream): Promise<FarFailure | undefined> {
  const message = await boundedText(error);
  if (message !== '') return {kind: 'refused', message};
  return error.isGone ? {kind: 'lost'} : undefined;
}
