import {abortable} from '../async/abortable.js';
import {pause} from '../async/pause.js';
import {systemClock} from '../clock.js';
import {messageOf, SystemError} from '../errors.js';
import {connectUnixSocket} from '../net/connect-unix-socket.js';
import type {UnixSocket} from '../net/unix-socket.js';
import {systemErrorMessage} from '../system-error-message.js';
import {Handshake} from './handshake.js';
import {countHeldDescriptors} from './held-descriptors.js';
import {
  DBusMessageSplitter,
  encodeMessage,
  ERROR,
  METHOD_CALL,
  METHOD_RETURN,
  SIGNAL,
  type DBusMessage,
} from './message.js';
import type {DBusValue, DBusVariant} from './wire.js';

/** A call of a method of an object on the bus. */
export interface DBusCall {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
}

/** An error reply. The message is its text. */
export class DBusError extends SystemError {
  /** Name such as `org.freedesktop.DBus.Error.AccessDenied`. */
  readonly errorName: string;

  constructor(errorName: string, message: string) {
    super(message);
    this.errorName = errorName;
  }
}

interface PendingReply {
  readonly resolve: (body: readonly DBusValue[]) => void;
  readonly reject: (error: Error) => void;
}

const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
} as const;

/** Longest time that a reply is left unread before it is read to see whether it is an error, in ms. */
const LONGEST_HOLD_MS = 2000;
const HOLD_POLL_MS = 20;

/**
 * A connection to a message bus over a Unix socket, as a client: calls and signals (D-Bus Specification). Node.js cannot receive
 * file descriptors; see `holdReply`.
 */
export class DBusConnection implements Disposable {
  readonly #splitter = new DBusMessageSplitter();
  readonly #pending = new Map<number, PendingReply>();
  #socket: UnixSocket | undefined;
  #handshake: Handshake | undefined;
  #serial = 0;
  #failure: Error | undefined;
  /** Called with each signal; must not throw. */
  onSignal: (message: DBusMessage) => void = () => undefined;
  /** Called when the connection is lost or closed; must not throw. */
  onLost: () => void = () => undefined;

  /** Connects to the bus at an address such as `unix:path=/run/bus`. Rejects with SystemError. */
  static async open(address: string, signal: AbortSignal): Promise<DBusConnection> {
    const connection = new DBusConnection();
    try {
      await abortable(connection.#connect(socketPathOf(address)), signal);
      await connection.call({...BUS, member: 'Hello'}, signal);
      return connection;
    } catch (error) {
      connection[Symbol.dispose]();
      throw error;
    }
  }

  async #connect(path: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#pending.set(HANDSHAKE, {
        resolve: () => {
          resolve();
        },
        reject,
      });
      const write = (bytes: Buffer): void => this.#socket?.write(bytes);
      this.#socket = connectUnixSocket(path, {
        onConnect: () => {
          this.#handshake = new Handshake(write);
        },
        onRead: (chunk) => {
          this.#read(chunk);
        },
        onDrain: () => undefined,
        onLost: (error) => {
          this.#fail(
            error === undefined
              ? new SystemError('dbus: connection closed by the message bus')
              : new SystemError(`dial unix ${path}: connect: ${systemErrorMessage(error)}`, {cause: error}),
          );
        },
      });
    });
  }

  /** Calls a method and resolves with the values of its reply. Rejects with DBusError for an error reply, otherwise with SystemError. */
  async call(call: DBusCall, signal: AbortSignal): Promise<readonly DBusValue[]> {
    return await this.#reply(this.#send(call), signal);
  }

  /** Reads a property of an interface of an object; undefined if the reply has no value. Rejects like `call`. */
  async getProperty(
    {interface: of, ...object}: Pick<DBusCall, 'destination' | 'path' | 'interface'>,
    name: string,
    signal: AbortSignal,
  ): Promise<DBusValue | undefined> {
    const properties = {...object, interface: 'org.freedesktop.DBus.Properties'};
    const [value] = await this.call(
      {...properties, member: 'Get', signature: 'ss', body: [of, name]},
      signal,
    );
    return (value as DBusVariant | undefined)?.value;
  }

  /** Receives the signals that match a rule from now on. */
  async addMatch(rule: string, signal: AbortSignal): Promise<void> {
    await this.call({...BUS, member: 'AddMatch', signature: 's', body: [rule]}, signal);
  }

  /**
   * Calls a method whose reply has a file descriptor, and leaves the reply unread: the kernel holds the descriptor open until this
   * connection is closed. Resolves with true when it has arrived, and with false if it came too late to be held. Rejects with
   * SystemError with the text of an error reply. The connection is of no other use afterwards.
   */
  async holdReply(call: DBusCall, signal: AbortSignal): Promise<boolean> {
    const before = await countHeldDescriptors();
    this.#socket?.stopReading();
    const serial = this.#send(call);
    for (const end = systemClock.monotonic() + LONGEST_HOLD_MS; systemClock.monotonic() < end;) {
      await pause(systemClock, HOLD_POLL_MS, signal);
      const held = await countHeldDescriptors();
      if (held !== undefined && held > (before ?? 0)) return true;
    }
    if (before === undefined) return true; // the kernel cannot say more
    const reply = this.#reply(serial, signal);
    this.#socket?.resumeReading();
    await reply;
    return false;
  }

  [Symbol.dispose](): void {
    this.#socket?.destroy();
    this.#fail(new SystemError('dbus: connection closed by user'));
  }

  #send(call: DBusCall): number {
    const serial = (this.#serial += 1);
    this.#socket?.write(encodeMessage({type: METHOD_CALL, serial, ...call}));
    return serial;
  }

  async #reply(serial: number, signal: AbortSignal): Promise<readonly DBusValue[]> {
    const reply = new Promise<readonly DBusValue[]>((resolve, reject) => {
      if (this.#failure === undefined) this.#pending.set(serial, {resolve, reject});
      else reject(this.#failure);
    });
    try {
      return await abortable(reply, signal);
    } finally {
      this.#pending.delete(serial);
    }
  }

  #read(chunk: Buffer): void {
    try {
      const handshake = this.#handshake;
      if (handshake === undefined) for (const message of this.#splitter.push(chunk)) this.#receive(message);
      else if (handshake.read(chunk)) {
        this.#handshake = undefined;
        this.#pending.get(HANDSHAKE)?.resolve([]);
      }
    } catch (error) {
      this.#socket?.destroy();
      this.#fail(new SystemError(`dbus: ${messageOf(error)}`, {cause: error}));
    }
  }

  #receive(message: DBusMessage): void {
    const {type, replySerial = 0, body = [], errorName = ''} = message;
    if (type === SIGNAL) this.onSignal(message);
    const pending = this.#pending.get(replySerial);
    if (type === METHOD_RETURN) pending?.resolve(body);
    if (type !== ERROR) return;
    const [text] = body;
    pending?.reject(new DBusError(errorName, typeof text === 'string' ? text : errorName));
  }

  #fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    for (const {reject} of this.#pending.values()) reject(error);
    this.onLost();
  }
}

/** Key of the handshake among the replies, whose serials begin with 1. */
const HANDSHAKE = 0;

/** Returns the path of the socket of a bus address, whose first alternative that is a Unix socket is used. */
function socketPathOf(address: string): string {
  for (const alternative of address.split(';')) {
    const [, key, value] = /^unix:(?:.*,)?(path|abstract)=([^,]*)/.exec(alternative) ?? [];
    if (value !== undefined) return (key === 'abstract' ? '\0' : '') + decodeURIComponent(value);
  }
  throw new SystemError(`dbus: invalid bus address (no transport): ${JSON.stringify(address)}`);
}
