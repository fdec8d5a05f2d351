import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import {SIGNAL, type DBusMessage} from '../../../src/base/dbus/message.js';
import type {DBusValue} from '../../../src/base/dbus/wire.js';
import {FakeBusService} from './fake-bus-service.js';

/** How a fake logind behaves. */
export interface FakeLogindOptions {
  /** InhibitDelayMaxUSec, in µs. */
  readonly inhibitDelayMicros?: bigint;
  /** Delay after SIGHUP; by default it stays as it was. */
  readonly reloadedDelayMicros?: bigint;
  /** Error of Inhibit. */
  readonly inhibitError?: string;
}

const MANAGER = {path: '/org/freedesktop/login1', interface: 'org.freedesktop.login1.Manager'};
const PROPERTIES = 'org.freedesktop.DBus.Properties';
const SENDER = new URL('send-descriptor.pl', import.meta.url).pathname;

/** A logind, and the part of systemd that reloads it, on a bus. Its locks are pipes, as those of logind. */
export class FakeLogind implements AsyncDisposable {
  /** What it was asked for, and what it did, as the stand-in of the recordings writes it. */
  readonly log: string[] = [];
  readonly #options: FakeLogindOptions;
  readonly #service: FakeBusService;
  readonly #locks: {readonly sender: ChildProcess; readonly closed: Promise<unknown>}[] = [];
  #delay: bigint;

  private constructor(service: FakeBusService, options: FakeLogindOptions) {
    this.#service = service;
    this.#options = options;
    this.#delay = options.inhibitDelayMicros ?? 30_000_000n;
  }

  static async start(busPath: string, options: FakeLogindOptions = {}): Promise<FakeLogind> {
    const names = ['org.freedesktop.systemd1', 'org.freedesktop.login1'];
    const service = await FakeBusService.start(busPath, names);
    const logind = new FakeLogind(service, options);
    service.onCall = (call) => {
      logind.#receive(call);
    };
    return logind;
  }

  /** Announces a shutdown, or that it was cancelled. */
  prepareForShutdown(active: boolean): void {
    this.log.push(`PrepareForShutdown(${active})`);
    this.#service.send({
      type: SIGNAL,
      ...MANAGER,
      member: 'PrepareForShutdown',
      signature: 'b',
      body: [active],
    });
  }

  #receive(call: DBusMessage): void {
    const {interface: from = '', member = '', body = []} = call;
    if (from === PROPERTIES && member === 'Get') this.#get(call, body);
    else if (member === 'Inhibit') this.#inhibit(call, body);
    else if (member === 'KillUnit') this.#reload(call, body);
  }

  #get(call: DBusMessage, names: readonly DBusValue[]): void {
    this.log.push(`Get ${names.map((name) => name as string).join(' ')} -> ${this.#delay}`);
    this.#service.reply(call, {signature: 'v', body: [{signature: 't', value: this.#delay}]});
  }

  #reload(call: DBusMessage, body: readonly DBusValue[]): void {
    this.log.push(`KillUnit ${JSON.stringify(body)}`);
    this.#delay = this.#options.reloadedDelayMicros ?? this.#delay;
    this.#service.reply(call, {});
  }

  #inhibit(call: DBusMessage, [what, who, why, mode]: readonly DBusValue[]): void {
    const {inhibitError} = this.#options;
    const names = Object.entries({what, who, why, mode}).map(
      ([name, value]) => `${name}=${JSON.stringify(value)}`,
    );
    this.log.push(`Inhibit ${names.join(' ')}`);
    if (inhibitError === undefined)
      this.#sendLock(this.#service.encodeReply(call, {signature: 'h', unixFds: 1, body: [0]}));
    else this.#service.replyError(call, 'org.freedesktop.DBus.Error.AccessDenied', inhibitError);
  }

  #sendLock(bytes: Buffer): void {
    const sender = spawn('perl', [SENDER], {stdio: ['pipe', 'pipe', 'inherit', this.#service.socket]});
    // Fake clocks wait for the end of other programs.
    sender.unref();
    this.#locks.push({sender, closed: once(sender, 'close')});
    // Node.js stops reading from a socket that it gives to a child.
    this.#service.socket.resume();
    sender.stdin?.end(bytes);
    createInterface({input: sender.stdout!}).on('line', (line) => {
      if (line === 'released') this.log.push('inhibitor lock released');
    });
  }

  /** Leaves the bus. Locks that are still held are so in vain. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#service[Symbol.dispose]();
    for (const {sender} of this.#locks) sender.kill();
    await Promise.all(this.#locks.map(({closed}) => closed));
  }
}
