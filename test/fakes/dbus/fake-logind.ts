import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {createInterface} from 'node:readline';
import {Handshake} from '../../../src/base/dbus/handshake.js';
import {
  DBusMessageSplitter,
  encodeMessage,
  ERROR,
  METHOD_CALL,
  METHOD_RETURN,
  SIGNAL,
  type DBusMessage,
} from '../../../src/base/dbus/message.js';
import type {DBusValue} from '../../../src/base/dbus/wire.js';

/** How a fake logind behaves. */
export interface FakeLogindOptions {
  /** InhibitDelayMaxUSec, in µs. */
  readonly inhibitDelayMicros?: bigint;
  /** Delay after SIGHUP; by default it stays as it was. */
  readonly reloadedDelayMicros?: bigint;
  /** Error of Inhibit. */
  readonly inhibitError?: string;
}

const BUS = {
  destination: 'org.freedesktop.DBus',
  path: '/org/freedesktop/DBus',
  interface: 'org.freedesktop.DBus',
};
const MANAGER = {path: '/org/freedesktop/login1', interface: 'org.freedesktop.login1.Manager'};
const PROPERTIES = 'org.freedesktop.DBus.Properties';
const SENDER = new URL('send-descriptor.pl', import.meta.url).pathname;

/** A logind, and the part of systemd that reloads it, on a bus. Its locks are pipes, as those of logind. */
export class FakeLogind implements AsyncDisposable {
  /** What it was asked for, and what it did, as the stand-in of the recordings writes it. */
  readonly log: string[] = [];
  readonly #options: FakeLogindOptions;
  readonly #socket: Socket;
  readonly #splitter = new DBusMessageSplitter();
  readonly #locks: {readonly sender: ChildProcess; readonly closed: Promise<unknown>}[] = [];
  #serial = 0;
  #delay: bigint;

  private constructor(socket: Socket, options: FakeLogindOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#delay = options.inhibitDelayMicros ?? 30_000_000n;
  }

  static async start(busPath: string, options: FakeLogindOptions = {}): Promise<FakeLogind> {
    const socket = connect(busPath);
    await once(socket, 'connect');
    const logind = new FakeLogind(socket, options);
    const handshake = new Handshake((bytes) => void socket.write(bytes));
    let isAccepted = false;
    const done = new Promise<void>((resolve) => {
      socket.on('data', (chunk: Buffer) => {
        if (isAccepted) for (const message of logind.#splitter.push(chunk)) logind.#receive(message, resolve);
        else if ((isAccepted = handshake.read(chunk))) logind.#introduce();
      });
    });
    await done;
    return logind;
  }

  #introduce(): void {
    this.#send({type: METHOD_CALL, ...BUS, member: 'Hello'});
    for (const name of ['org.freedesktop.systemd1', 'org.freedesktop.login1'])
      this.#send({type: METHOD_CALL, ...BUS, member: 'RequestName', signature: 'su', body: [name, 4]});
  }

  /** Announces a shutdown, or that it was cancelled. */
  prepareForShutdown(active: boolean): void {
    this.log.push(`PrepareForShutdown(${active})`);
    this.#send({type: SIGNAL, ...MANAGER, member: 'PrepareForShutdown', signature: 'b', body: [active]});
  }

  #send(message: Omit<DBusMessage, 'serial'>): void {
    this.#socket.write(encodeMessage({serial: (this.#serial += 1), ...message}));
  }

  #receive(message: DBusMessage, ready: () => void): void {
    // The reply of the second RequestName, which follows that of Hello and of the first one.
    if (message.type === METHOD_RETURN && message.replySerial === 3) ready();
    if (message.type !== METHOD_CALL) return;
    const {interface: from = '', member = '', body = []} = message;
    if (from === PROPERTIES && member === 'Get') this.#get(message, body);
    else if (member === 'Inhibit') void this.#inhibit(message, body);
    else if (member === 'KillUnit') this.#reload(message, body);
  }

  #reply(call: DBusMessage, fields: Partial<DBusMessage>): void {
    this.#send({type: METHOD_RETURN, replySerial: call.serial, destination: call.sender ?? '', ...fields});
  }

  #get(call: DBusMessage, names: readonly DBusValue[]): void {
    this.log.push(`Get ${names.map((name) => name as string).join(' ')} -> ${this.#delay}`);
    this.#reply(call, {signature: 'v', body: [{signature: 't', value: this.#delay}]});
  }

  #reload(call: DBusMessage, body: readonly DBusValue[]): void {
    this.log.push(`KillUnit ${JSON.stringify(body)}`);
    this.#delay = this.#options.reloadedDelayMicros ?? this.#delay;
    this.#reply(call, {});
  }

  async #inhibit(call: DBusMessage, [what, who, why, mode]: readonly DBusValue[]): Promise<void> {
    const {inhibitError} = this.#options;
    const names = Object.entries({what, who, why, mode}).map(
      ([name, value]) => `${name}=${JSON.stringify(value)}`,
    );
    this.log.push(`Inhibit ${names.join(' ')}`);
    const to = {replySerial: call.serial, destination: call.sender ?? '', serial: (this.#serial += 1)};
    if (inhibitError !== undefined) {
      const errorName = 'org.freedesktop.DBus.Error.AccessDenied';
      this.#send({type: ERROR, ...to, errorName, signature: 's', body: [inhibitError]});
      return;
    }
    const bytes = encodeMessage({type: METHOD_RETURN, ...to, signature: 'h', unixFds: 1, body: [0]});
    this.#sendLock(bytes);
  }

  #sendLock(bytes: Buffer): void {
    const sender = spawn('perl', [SENDER], {stdio: ['pipe', 'pipe', 'inherit', this.#socket]});
    // Fake clocks wait for the end of other programs.
    sender.unref();
    this.#locks.push({sender, closed: once(sender, 'close')});
    // Node.js stops reading from a socket that it gives to a child.
    this.#socket.resume();
    sender.stdin?.end(bytes);
    createInterface({input: sender.stdout!}).on('line', (line) => {
      if (line === 'released') this.log.push('inhibitor lock released');
    });
  }

  /** Leaves the bus. Locks that are still held are so in vain. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    for (const {sender} of this.#locks) sender.kill();
    await Promise.all(this.#locks.map(({closed}) => closed));
  }
}
