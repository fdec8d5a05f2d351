import type {Socket} from 'node:net';
import type {Clock} from '../clock.js';

/** Maximum number of bytes that idle clients have not received yet, over all connections of a server. */
const MAX_UNSENT_BYTES = 64 * 1024 * 1024;

/** Open connection of a server. It is idle until {@link markBusy} and limited to the last time limit that was set. */
export class TrackedConnection {
  readonly #tracker: ConnectionTracker;
  readonly #clock: Clock;
  #socket: Socket;
  #timer = new AbortController();

  constructor(tracker: ConnectionTracker, clock: Clock, socket: Socket) {
    this.#tracker = tracker;
    this.#clock = clock;
    this.#socket = socket;
  }

  get socket(): Socket {
    return this.#socket;
  }

  /** Replaces the socket by the TLS socket on top of it. */
  useTls(socket: Socket): void {
    this.#socket = socket;
    socket.on('error', () => undefined); // 'close' follows
    socket.once('close', () => {
      this.#tracker.remove(this);
    });
  }

  /** Marks the connection as serving a request; it is not closed in favor of new ones. */
  markBusy(): void {
    this.#tracker.markBusy(this);
  }

  /** Marks the connection as idle from now on. */
  markIdle(): void {
    this.#tracker.markIdle(this);
  }

  /** Calls `act` after `ms` unless the connection is closed or the limit is replaced first. */
  setLimit(ms: number, act: () => void): void {
    this.clearLimit();
    if (this.#socket.destroyed) return;
    this.#timer = new AbortController();
    this.#clock.sleep(ms, this.#timer.signal).then(act, () => undefined);
  }

  clearLimit(): void {
    this.#timer.abort();
  }
}

/**
 * Tracks the connections of a server and limits their number: at the limit, a new connection replaces the one that has
 * been idle the longest, so that idle clients cannot lock others out. It also limits the unsent bytes of clients that do
 * not read their responses.
 */
export class ConnectionTracker {
  readonly #maxConnections: number;
  readonly #clock: Clock;
  readonly #open = new Set<TrackedConnection>();
  /** Idle connections; the longest idle first. */
  readonly #idle = new Set<TrackedConnection>();
  /** Connections that are closed as soon as they are idle. */
  readonly #retired = new WeakSet<TrackedConnection>();

  constructor(maxConnections: number, clock: Clock) {
    this.#maxConnections = maxConnections;
    this.#clock = clock;
  }

  /** Adds a connection. Destroys it and returns undefined if all others are serving requests. */
  add(socket: Socket): TrackedConnection | undefined {
    socket.on('error', () => undefined); // 'close' follows
    if (this.#open.size >= this.#maxConnections && !this.#replaceIdle()) {
      socket.destroy();
      return undefined;
    }
    const connection = new TrackedConnection(this, this.#clock, socket);
    this.#open.add(connection);
    this.#idle.add(connection);
    socket.once('close', () => {
      this.remove(connection);
    });
    return connection;
  }

  markBusy(connection: TrackedConnection): void {
    this.#idle.delete(connection);
  }

  markIdle(connection: TrackedConnection): void {
    if (!this.#open.has(connection)) return;
    if (this.#retired.has(connection)) {
      connection.socket.destroySoon();
      return;
    }
    this.#idle.delete(connection);
    this.#idle.add(connection);
    if (connection.socket.writableLength > 0) this.#limitUnsent();
  }

  /** Closes the idle connections, and each of the others when it has served its request. */
  retireAll(): void {
    for (const connection of this.#open) this.#retired.add(connection);
    for (const {socket} of this.#idle) socket.destroySoon();
  }

  /** Destroys all connections. */
  destroyAll(): void {
    for (const {socket} of this.#open) socket.destroy();
  }

  /** Forgets a closed connection. */
  remove(connection: TrackedConnection): void {
    connection.clearLimit();
    this.#open.delete(connection);
    this.#idle.delete(connection);
  }

  /** Destroys an idle connection, if possible one whose client has received everything. Reports whether it did. */
  #replaceIdle(): boolean {
    const [oldest] = this.#idle;
    const victim = this.#findIdle(({socket}) => socket.writableLength === 0) ?? oldest;
    if (victim === undefined) return false;
    this.remove(victim);
    victim.socket.destroy();
    return true;
  }

  #findIdle(matches: (connection: TrackedConnection) => boolean): TrackedConnection | undefined {
    for (const connection of this.#idle) if (matches(connection)) return connection;
    return undefined;
  }

  #limitUnsent(): void {
    let unsent = [...this.#idle].reduce((sum, {socket}) => sum + socket.writableLength, 0);
    for (const {socket} of this.#idle) {
      if (unsent <= MAX_UNSENT_BYTES) return;
      if (socket.writableLength === 0) continue;
      unsent -= socket.writableLength;
      socket.destroy();
    }
  }
}
