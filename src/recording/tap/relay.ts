import {once} from 'node:events';
import {chmod} from 'node:fs/promises';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {withFileErrors} from '../../base/fs/files.js';
import {goAway} from '../../cri/http2/frames.js';
import {methodOf} from './method-table.js';
import type {ConnectionTap, Side} from './connection-tap.js';

/** Options of a relay. */
export interface RelayOptions {
  /** Path of the runtime's socket. */
  readonly target: string;
  /** Returns the tap of a new connection. */
  readonly tap: (connection: number) => ConnectionTap;
  /** Called when the runtime does not accept a connection; the client's is then closed. */
  readonly onUnreachable: (error: Error) => void;
  /** Called when the runtime accepts connections again. */
  readonly onReachable: () => void;
  /** Called when a connection cannot be read along. It is still relayed. */
  readonly onUnreadable: (error: unknown) => void;
}

/** A connection of a client and its counterpart to the runtime. */
class RelayedConnection {
  readonly #sockets: Readonly<Record<Side, Socket>>;
  #tap: ConnectionTap | undefined;
  #announcesEnd = false;

  constructor(client: Socket, server: Socket, tap: ConnectionTap) {
    this.#sockets = {client, server};
    this.#tap = tap;
  }

  /** Starts to relay. `onUnreadable` is RelayOptions'. */
  start(onUnreadable: (error: unknown) => void): void {
    this.#pump('client', 'server', onUnreadable);
    this.#pump('server', 'client', onUnreadable);
  }

  #pump(from: Side, to: Side, onUnreadable: (error: unknown) => void): void {
    const source = this.#sockets[from];
    const target = this.#sockets[to];
    source.on('data', (chunk: Buffer) => {
      // The peer gets the bytes before they are looked at.
      if (!target.write(chunk)) source.pause();
      this.#read(from, chunk, onUnreadable);
    });
    target.on('drain', () => {
      source.resume();
    });
    source.on('end', () => {
      target.end();
      if (from === 'server') this.#tap?.close();
    });
    source.on('error', () => {
      target.destroy(); // one side is gone, and with it the connection
    });
    source.on('close', () => {
      target.end();
      this.#tap?.close();
    });
  }

  #read(from: Side, chunk: Buffer, onUnreadable: (error: unknown) => void): void {
    try {
      this.#tap?.read(from, chunk);
    } catch (error) {
      this.#tap?.close();
      this.#tap = undefined;
      onUnreadable(error);
    }
    if (this.#announcesEnd) this.announceEnd();
  }

  /** Asks the client to use another connection for further calls, as soon as a frame can be inserted. */
  announceEnd(): void {
    this.#announcesEnd = this.#tap?.isBetweenFrames === false;
    if (!this.#announcesEnd && this.#tap !== undefined) this.#sockets.client.write(goAway(0, 2 ** 31 - 1));
  }

  /** True if a call has not ended, other than a stream, which may never end. */
  get hasOpenUnaryCalls(): boolean {
    return this.#tap?.openCalls.some(({path}) => methodOf(path).info?.stream !== true) === true;
  }

  destroy(): void {
    this.#sockets.client.destroy();
    this.#sockets.server.destroy();
  }
}

/** Listens on a socket and passes the bytes of each connection to the runtime and back, unchanged. */
export class Relay {
  readonly #options: RelayOptions;
  readonly #server: Server;
  readonly #connections = new Set<RelayedConnection>();
  #accepted = 0;
  #isReachable = true;

  private constructor(options: RelayOptions) {
    this.#options = options;
    this.#server = createServer({allowHalfOpen: true, pauseOnConnect: true}, (client) => {
      this.#accept(client);
    });
  }

  /**
   * Listens on a new socket at `path` that only this user may use. Rejects with SystemError, also if something is at the
   * path.
   */
  static async listen(path: string, options: RelayOptions): Promise<Relay> {
    const relay = new Relay(options);
    await withFileErrors('listening on', path, async () => {
      relay.#server.listen(path);
      await once(relay.#server, 'listening');
      await chmod(path, 0o600);
    });
    return relay;
  }

  /** True if a call has not ended, other than a stream, which may never end. */
  get hasOpenUnaryCalls(): boolean {
    return [...this.#connections].some((connection) => connection.hasOpenUnaryCalls);
  }

  #accept(client: Socket): void {
    const {onUnreadable, tap, target} = this.#options;
    this.#accepted += 1;
    const server = connect({path: target, allowHalfOpen: true});
    const connection = new RelayedConnection(client, server, tap(this.#accepted));
    this.#connections.add(connection);
    client.on('close', () => this.#connections.delete(connection));
    client.on('error', () => undefined); // `start` handles it; before that, its end is enough
    let isConnected = false;
    server.once('connect', () => {
      isConnected = true;
      this.#reached();
    });
    server.on('error', (error) => {
      if (!isConnected) this.#missed(error);
    });
    connection.start(onUnreadable);
    client.resume();
  }

  #reached(): void {
    if (!this.#isReachable) this.#options.onReachable();
    this.#isReachable = true;
  }

  #missed(error: Error): void {
    if (this.#isReachable) this.#options.onUnreachable(error);
    this.#isReachable = false;
  }

  /** Accepts no more connections, and asks the clients of the others to leave them for further calls. */
  drain(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.announceEnd();
  }

  /** Accepts no more connections, and closes all. Removes the socket. */
  close(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
  }
}
