import {once} from 'node:events';
import {chmod} from 'node:fs/promises';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {startTimer} from '../../base/async/timer.js';
import type {Clock} from '../../base/clock.js';
import {withFileErrors} from '../../base/fs/files.js';
import {goAway} from '../../cri/http2/frames.js';
import {methodOf} from './method-table.js';
import type {ConnectionTap, Side} from './connection-tap.js';
import {passBytes} from './pass-bytes.js';

/** Options of a relay. */
export interface RelayOptions {
  /** Path of the runtime's socket. */
  readonly target: string;
  /** Returns the tap of a new connection. */
  readonly tap: (connection: number) => ConnectionTap;
  readonly clock: Clock;
  /** Called when the runtime does not accept a connection; the client's is then closed. */
  readonly onUnreachable: (error: Error) => void;
  /** Called when the runtime accepts connections again. */
  readonly onReachable: () => void;
  /** Called when a connection cannot be read along. It is still relayed. */
  readonly onUnreadable: (error: unknown) => void;
}

/** Time for which a response is held back that is not complete, in ms. */
const MAX_HELD_MS = 1000;
/** Maximum length of what is held back, in bytes. */
const MAX_HELD = 256 * 1024;

/** A connection of a client and its counterpart to the runtime. */
class RelayedConnection {
  readonly #sockets: Readonly<Record<Side, Socket>>;
  #tap: ConnectionTap | undefined;
  #announcesEnd = false;
  /** What the runtime has sent since the start of a URL that is to be replaced. */
  #held: Buffer[] = [];
  #heldLength = 0;
  #cancelRelease: () => void = () => undefined;

  constructor(sockets: Readonly<Record<Side, Socket>>, tap: ConnectionTap) {
    this.#sockets = sockets;
    this.#tap = tap;
  }

  /** Starts to relay. */
  start({clock, onUnreadable}: Pick<RelayOptions, 'clock' | 'onUnreadable'>): void {
    const {client, server} = this.#sockets;
    const close = (): void => this.#tap?.close();
    passBytes(client, server, {
      write: (chunk) => this.#write('client', chunk, onUnreadable),
      onEnd: () => undefined,
      onClose: close,
      clock,
    });
    passBytes(server, client, {
      write: (chunk) =>
        this.#held.length > 0 || this.#tap?.awaitsUrl === true
          ? this.#writeReplaced(chunk, onUnreadable)
          : this.#write('server', chunk, onUnreadable),
      onEnd: () => {
        this.#release();
        close();
      },
      onClose: () => {
        this.#cancelRelease();
        close();
      },
      clock,
    });
  }

  /** The peer gets the bytes before they are looked at. */
  #write(from: Side, chunk: Buffer, onUnreadable: (error: unknown) => void): boolean {
    const isTaken = this.#sockets[from === 'client' ? 'server' : 'client'].write(chunk);
    this.#read(from, chunk, onUnreadable);
    return isTaken;
  }

  /**
   * Reads what the runtime sends before the client gets it, since the tap overwrites URLs in it. An incomplete response is
   * held back for a short time only: the runtime may wait for the client before it sends the rest.
   */
  #writeReplaced(chunk: Buffer, onUnreadable: (error: unknown) => void): boolean {
    this.#held.push(chunk);
    this.#heldLength += chunk.length;
    this.#read('server', chunk, onUnreadable);
    if (this.#tap?.hasIncompleteUrl !== true || this.#heldLength > MAX_HELD) return this.#release();
    if (this.#held.length === 1) this.#cancelRelease = startTimer(MAX_HELD_MS, () => void this.#release());
    return true;
  }

  #release(): boolean {
    this.#cancelRelease();
    this.#tap?.abandonUrls();
    const {client} = this.#sockets;
    for (const chunk of this.#held.splice(0)) client.write(chunk);
    this.#heldLength = 0;
    if (this.#announcesEnd) this.announceEnd();
    return !client.writableNeedDrain;
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
    this.#announcesEnd = this.#held.length > 0 || this.#tap?.isBetweenFrames === false;
    if (!this.#announcesEnd && this.#tap !== undefined) this.#sockets.client.write(goAway(0, 2 ** 31 - 1));
  }

  /** True if a call has not ended, other than a stream, which may never end. */
  get hasOpenUnaryCalls(): boolean {
    return this.#tap?.openCalls.some(({path}) => methodOf(path).info?.stream !== true) === true;
  }

  destroy(): void {
    this.#cancelRelease();
    this.#sockets.client.destroy();
    this.#sockets.server.destroy();
  }
}

/** Listens on a socket and passes the bytes of each connection to the runtime and back, unchanged but for what the tap replaces. */
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
    const {tap, target} = this.#options;
    this.#accepted += 1;
    const server = connect({path: target, allowHalfOpen: true});
    const connection = new RelayedConnection({client, server}, tap(this.#accepted));
    this.#connections.add(connection);
    const forget = (): void => {
      if (client.closed && server.closed) this.#connections.delete(connection);
    };
    client.on('close', forget);
    server.on('close', forget);
    client.on('error', () => undefined); // `start` handles it; before that, its end is enough
    let isConnected = false;
    server.once('connect', () => {
      isConnected = true;
      this.#reached();
    });
    server.on('error', (error) => {
      if (!isConnected) this.#missed(error);
    });
    connection.start(this.#options);
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
