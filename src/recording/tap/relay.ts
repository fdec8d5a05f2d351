import {once} from 'node:events';
import {chmod} from 'node:fs/promises';
import {connect, createServer, type Server, type Socket} from 'node:net';
import {startTimer} from '../../base/async/timer.js';
import type {Clock} from '../../base/clock.js';
import {withFileErrors} from '../../base/fs/files.js';
import {goAway} from '../../cri/http2/frames.js';
import {ReadState} from '../../streaming/socket/read-state.js';
import type {Side} from './connection-tap.js';
import {passBytes} from './pass-bytes.js';
import type {ReadQueue, RelayTap} from './relay-tap.js';

/** Options of a relay. */
export interface RelayOptions {
  /** Path of the runtime's socket. */
  readonly target: string;
  /** Returns the tap of a new connection. */
  readonly tap: (connection: number) => RelayTap;
  readonly clock: Clock;
  /** Decides when what was relayed is read. */
  readonly queue: ReadQueue;
  /** Called when the runtime does not accept a connection; the client's is then closed. */
  readonly onUnreachable: (error: Error) => void;
  /** Called when the runtime accepts connections again. */
  readonly onReachable: () => void;
  /** Called when a connection cannot be read along. It is still relayed. */
  readonly onUnreadable: (error: unknown) => void;
  /** Limits of holding back a response that is not complete: one second and 256 KiB by default. */
  readonly held?: HeldLimits;
}

/** Limits of holding back a response. */
export interface HeldLimits {
  /** Maximum time, in ms. */
  readonly ms: number;
  /** Maximum length, in bytes. */
  readonly bytes: number;
}

const DEFAULT_HELD: HeldLimits = {ms: 1000, bytes: 256 * 1024};

/** Memory of a chunk that waits to be read, beside its bytes. */
const CHUNK_OVERHEAD = 300;

type ConnectionOptions = Pick<RelayOptions, 'clock' | 'queue' | 'onUnreadable' | 'held'>;

/** A connection of a client and its counterpart to the runtime. */
class RelayedConnection {
  readonly #sockets: Readonly<Record<Side, Socket>>;
  readonly #clock: Clock;
  readonly #queue: ReadQueue;
  readonly #onUnreadable: RelayOptions['onUnreadable'];
  readonly #limits: HeldLimits;
  #tap: RelayTap | undefined;
  #announcesEnd = false;
  /** What the runtime has sent since the start of a URL that is to be replaced. */
  #held: Buffer[] = [];
  #heldLength = 0;
  #cancelRelease: () => void = () => undefined;

  constructor(
    sockets: Readonly<Record<Side, Socket>>,
    tap: RelayTap,
    {clock, queue, onUnreadable, held = DEFAULT_HELD}: ConnectionOptions,
  ) {
    this.#sockets = sockets;
    this.#tap = tap;
    this.#clock = clock;
    this.#queue = queue;
    this.#onUnreadable = onUnreadable;
    this.#limits = held;
  }

  /** Starts to relay. `reads` is what the connection to the runtime reads with, if it reuses memory. */
  start(reads: ReadState | undefined): void {
    const clock = this.#clock;
    const {client, server} = this.#sockets;
    const close = (): void => {
      this.#look(() => this.#tap?.close(), 0);
    };
    passBytes(client, server, {
      write: (chunk) => this.#write('client', chunk),
      onEnd: () => undefined,
      onClose: close,
      clock,
    });
    passBytes(server, client, {
      reads,
      write: (chunk) =>
        this.#held.length > 0 || this.#tap?.awaitsUrl === true
          ? this.#writeReplaced(chunk)
          : this.#write('server', chunk),
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
  #write(from: Side, chunk: Buffer): boolean {
    const target = this.#sockets[from === 'client' ? 'server' : 'client'];
    const isTaken = target.write(chunk);
    this.#queue.touch();
    this.#look(() => {
      this.#read(from, chunk);
    }, CHUNK_OVERHEAD + chunk.length);
    const isFull = this.#queue.awaitRoom(() => {
      if (!target.writableNeedDrain) this.#sockets[from].resume();
    });
    return isTaken && !isFull;
  }

  /** Reads along later, unless what is passed on next depends on it. */
  #look(read: () => void, bytes: number): void {
    if (this.#tap?.replacesUrls === true || this.#announcesEnd) read();
    else this.#queue.push(read, bytes);
  }

  /**
   * Reads what the runtime sends before the client gets it, since the tap overwrites URLs in it. An incomplete response is
   * held back for a short time only: the runtime may wait for the client before it sends the rest.
   */
  #writeReplaced(chunk: Buffer): boolean {
    this.#held.push(chunk);
    this.#heldLength += chunk.length;
    this.#read('server', chunk);
    if (this.#tap?.hasIncompleteUrl !== true) return this.#release();
    if (this.#heldLength > this.#limits.bytes)
      return this.#release('too much was held back before the response with its URL was complete');
    if (this.#held.length === 1)
      this.#cancelRelease = startTimer(this.#limits.ms, () => {
        this.#release('the response with its URL was not complete in time');
      });
    return true;
  }

  /** Passes on what is held back. `reason` is why an incomplete URL is not replaced. */
  #release(reason?: string): boolean {
    this.#cancelRelease();
    this.#tap?.abandonUrls(reason);
    const {client} = this.#sockets;
    for (const chunk of this.#held.splice(0)) client.write(chunk);
    this.#heldLength = 0;
    if (this.#announcesEnd) this.announceEnd();
    return !client.writableNeedDrain;
  }

  #read(from: Side, chunk: Buffer): void {
    try {
      this.#tap?.read(from, chunk);
    } catch (error) {
      this.#tap?.close();
      this.#tap = undefined;
      this.#onUnreadable(error);
    }
    if (this.#announcesEnd) this.announceEnd();
  }

  /**
   * Asks the client to use another connection for further calls, as soon as a frame can be inserted. All that was passed on
   * must have been read.
   */
  announceEnd(): void {
    this.#announcesEnd = this.#held.length > 0 || this.#tap?.isBetweenFrames === false;
    if (!this.#announcesEnd && this.#tap !== undefined) this.#sockets.client.write(goAway(0, 2 ** 31 - 1));
  }

  async hasOpenUnaryCalls(): Promise<boolean> {
    return (await this.#tap?.hasOpenUnaryCalls()) === true;
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

  /** Reports whether a call has not ended, other than a stream, which may never end. */
  async hasOpenUnaryCalls(): Promise<boolean> {
    this.#options.queue.finish();
    for (const connection of [...this.#connections]) if (await connection.hasOpenUnaryCalls()) return true;
    return false;
  }

  #accept(client: Socket): void {
    const {target, queue} = this.#options;
    this.#accepted += 1;
    const tap = this.#options.tap(this.#accepted);
    // Allocating memory for each read takes a tenth of the time of relaying a long list.
    const reads = queue.copies && !tap.replacesUrls ? new ReadState() : undefined;
    const server = connect({path: target, allowHalfOpen: true, ...(reads && {onread: reads.onread})});
    const connection = new RelayedConnection({client, server}, tap, this.#options);
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
    connection.start(reads);
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
    this.#options.queue.finish();
    for (const connection of this.#connections) connection.announceEnd();
  }

  /** Accepts no more connections, and closes all. Removes the socket. */
  close(): void {
    this.#server.close();
    for (const connection of this.#connections) connection.destroy();
  }
}
