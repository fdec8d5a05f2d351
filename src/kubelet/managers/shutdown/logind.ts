import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {AsyncQueue} from '../../../base/async/async-queue.js';
import {DBusConnection} from '../../../base/dbus/connection.js';
import {systemBusAddress} from '../../../base/dbus/system-bus.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {withFileErrors} from '../../../base/fs/files.js';

const LOGIND = {destination: 'org.freedesktop.login1', path: '/org/freedesktop/login1'};
const MANAGER = 'org.freedesktop.login1.Manager';
const INHIBITOR = ['shutdown', 'kubelet', 'Kubelet needs time to handle node shutdown', 'delay'];
const SIGHUP = 1;
/** Attempts to hold the lock, of which each waits two seconds for logind. */
const INHIBIT_TRIES = 5;

/** Where logind is, and where its configuration is overridden. */
export interface LogindPlace {
  /** Address of the system bus; by default that of the environment, or the usual one. */
  readonly bus?: string;
  readonly configDir?: string;
}

/** The part of logind that delays a shutdown (nodeshutdown/systemd DBusCon). All calls reject with SystemError. */
export class Logind implements Disposable {
  readonly #bus: DBusConnection;
  readonly #address: string;
  readonly #configDir: string;
  /** Announcements of a shutdown, or of its cancellation; undefined at the end of the connection. */
  readonly #announced = new AsyncQueue<boolean | undefined>();

  private constructor(bus: DBusConnection, address: string, configDir: string) {
    this.#bus = bus;
    this.#address = address;
    this.#configDir = configDir;
  }

  static async connect(
    {bus = systemBusAddress(), configDir = '/etc/systemd/logind.conf.d'}: LogindPlace,
    signal: AbortSignal,
  ): Promise<Logind> {
    return new Logind(await DBusConnection.open(bus, signal), bus, configDir);
  }

  /** Resolves with the longest delay that logind allows, in ms. */
  async inhibitDelayMs(signal: AbortSignal): Promise<number> {
    const name = 'InhibitDelayMaxUSec';
    try {
      const value = await this.#bus.getProperty({...LOGIND, interface: MANAGER}, name, signal);
      if (typeof value !== 'bigint') throw new SystemError('it is not a uint64 as expected');
      return Number(value) / 1000;
    } catch (cause) {
      throw failure(`failed reading ${name} property from logind`, cause, signal);
    }
  }

  /** Lets logind allow a longer delay, once it is reloaded. */
  async overrideInhibitDelay(seconds: number): Promise<void> {
    const path = join(this.#configDir, '99-kubelet.conf');
    const text = `# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=${seconds}\n`;
    await withFileErrors('writing the logind shutdown inhibit override file', path, async () => {
      await mkdir(this.#configDir, {recursive: true, mode: 0o755});
      await writeFile(path, text, {mode: 0o644});
    });
  }

  /** Makes logind read its configuration again. */
  async reload(signal: AbortSignal): Promise<void> {
    try {
      await this.#bus.call(
        {
          destination: 'org.freedesktop.systemd1',
          path: '/org/freedesktop/systemd1',
          interface: 'org.freedesktop.systemd1.Manager',
          member: 'KillUnit',
          signature: 'ssi',
          body: ['systemd-logind.service', 'all', SIGHUP],
        },
        signal,
      );
    } catch (cause) {
      throw failure('unable to reload logind conf', cause, signal);
    }
  }

  /**
   * Delays shutdowns until the result is disposed of, or this process ends. The lock is a file descriptor; it remains in a
   * connection of its own, also when the bus restarts.
   */
  async inhibit(signal: AbortSignal): Promise<Disposable> {
    const call = {...LOGIND, interface: MANAGER, member: 'Inhibit', signature: 'ssss', body: INHIBITOR};
    try {
      for (let tries = 0; tries < INHIBIT_TRIES; tries += 1) {
        const lock = await DBusConnection.open(this.#address, signal);
        let isHeld = false;
        try {
          isHeld = await lock.holdReply(call, signal);
        } finally {
          if (!isHeld) lock[Symbol.dispose]();
        }
        if (isHeld) return lock;
      }
      throw new SystemError('logind answers too slowly');
    } catch (cause) {
      throw failure('failed creating systemd inhibitor', cause, signal);
    }
  }

  /** Receives announcements from now on. */
  async watch(signal: AbortSignal): Promise<void> {
    this.#bus.onSignal = ({member, interface: from, body: [isActive] = []}) => {
      if (member === 'PrepareForShutdown' && from === MANAGER && typeof isActive === 'boolean')
        this.#announced.push(isActive);
    };
    this.#bus.onLost = () => {
      this.#announced.push(undefined);
    };
    await this.#bus.addMatch(
      `type='signal',interface='${MANAGER}',member='PrepareForShutdown',path='${LOGIND.path}'`,
      signal,
    );
  }

  /** Resolves with true for an announced shutdown, false for a cancelled one, undefined at the end of the connection. */
  async nextAnnouncement(signal: AbortSignal): Promise<boolean | undefined> {
    return await this.#announced.next(signal);
  }

  [Symbol.dispose](): void {
    this.#bus[Symbol.dispose]();
  }
}

/** Returns an error with what failed; programming errors and the signal's reason are thrown. */
function failure(what: string, cause: unknown, signal: AbortSignal): SystemError {
  signal.throwIfAborted();
  rethrowUnexpected(cause);
  return new SystemError(`${what}: ${messageOf(cause)}`, {cause});
}
