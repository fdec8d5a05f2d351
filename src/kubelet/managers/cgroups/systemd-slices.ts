import {basename, dirname} from 'node:path';
import {AsyncQueue} from '../../../base/async/async-queue.js';
import {createDeadline} from '../../../base/async/deadline.js';
import {systemClock} from '../../../base/clock.js';
import {DBusConnection, DBusError} from '../../../base/dbus/connection.js';
import {systemBusAddress} from '../../../base/dbus/system-bus.js';
import type {DBusValue} from '../../../base/dbus/wire.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import type {CgroupValue} from './cgroup-files.js';
import {creationProperties, knownProperties, limitProperties, QUOTA_PERIOD} from './slice-properties.js';

const SYSTEMD = {destination: 'org.freedesktop.systemd1', path: '/org/freedesktop/systemd1'} as const;
const MANAGER = 'org.freedesktop.systemd1.Manager';
/** Longest time for a unit to be started or stopped, in ms (libcontainer's startUnit). */
const TIMEOUT_MS = 30_000;

/**
 * Creates the slice at the path of a cgroup of this version. One that exists is not changed, and its cgroup may be missing. Rejects
 * with SystemError.
 */
export async function startSlice(path: string, version: 1 | 2): Promise<void> {
  const [slice, parent] = [basename(path), basename(dirname(path))];
  const properties = creationProperties(slice, version, parent === '' ? undefined : parent);
  const body = [slice, 'replace', properties, []];
  await withSystemd('creating', slice, async (systemd) => {
    await systemd.runJob({member: 'StartTransientUnit', signature: 'ssa(sv)a(sa(sv))', body}, 'UnitExists');
  });
}

/**
 * Makes systemd write limits of the cgroup of an existing slice until the node is booted again, as far as it has properties for them.
 * Rejects with SystemError.
 */
export async function setSliceLimits(path: string, values: readonly CgroupValue[]): Promise<void> {
  const properties = limitProperties(values);
  if (properties.length === 0) return;
  const slice = basename(path);
  await withSystemd('setting the limits of', slice, async (systemd) => {
    const known = properties.some(([name]) => name === QUOTA_PERIOD)
      ? knownProperties(properties, await systemd.version())
      : properties;
    await systemd.call({member: 'SetUnitProperties', signature: 'sba(sv)', body: [slice, true, known]});
  });
}

/** Stops the slice at the path of a cgroup, if it exists, which removes its cgroup. Rejects with SystemError. */
export async function stopSlice(path: string): Promise<void> {
  const slice = basename(path);
  await withSystemd('removing', slice, async (systemd) => {
    await systemd.runJob({member: 'StopUnit', signature: 'ss', body: [slice, 'replace']}, 'NoSuchUnit');
  });
}

async function withSystemd(
  doing: string,
  slice: string,
  work: (systemd: SystemdManager) => Promise<void>,
): Promise<void> {
  using deadline = createDeadline(
    systemClock,
    TIMEOUT_MS,
    () => new SystemError(`systemd did not answer within ${TIMEOUT_MS / 1000} s`),
  );
  try {
    using bus = await DBusConnection.open(systemBusAddress(), deadline.signal);
    await work(new SystemdManager(bus, deadline.signal));
  } catch (cause) {
    rethrowUnexpected(cause);
    throw new SystemError(`${doing} the slice "${slice}": ${messageOf(cause)}`, {
      cause,
      hint: 'the cgroup driver is systemd: check that systemd and the message bus run (systemctl status dbus)',
    });
  }
}

/** A call of systemd's manager. */
interface ManagerCall {
  readonly member: string;
  readonly signature?: string;
  readonly body?: readonly DBusValue[];
}

/** The manager of systemd on a connection that is used for one slice. */
class SystemdManager {
  readonly #bus: DBusConnection;
  readonly #signal: AbortSignal;
  /** Paths and results of the jobs that have ended. */
  readonly #ended = new AsyncQueue<readonly [job: DBusValue, result: DBusValue]>();

  constructor(bus: DBusConnection, signal: AbortSignal) {
    this.#bus = bus;
    this.#signal = signal;
    bus.onSignal = ({member, interface: from, body: [, job = '', , result = ''] = []}) => {
      if (member === 'JobRemoved' && from === MANAGER) this.#ended.push([job, result]);
    };
  }

  async call(call: ManagerCall): Promise<readonly DBusValue[]> {
    return await this.#bus.call({...SYSTEMD, interface: MANAGER, ...call}, this.#signal);
  }

  /** Returns systemd's version, as it writes it. */
  async version(): Promise<DBusValue | undefined> {
    return await this.#bus.getProperty({...SYSTEMD, interface: MANAGER}, 'Version', this.#signal);
  }

  /** Makes a call that starts a job and waits for the end of the job, unless the call fails with the error `tolerated`. */
  async runJob(call: ManagerCall, tolerated: string): Promise<void> {
    await this.#bus.addMatch(`type='signal',interface='${MANAGER}',member='JobRemoved'`, this.#signal);
    await this.call({member: 'Subscribe'});
    const job = await this.call(call).catch((error: unknown) => {
      if (error instanceof DBusError && error.errorName === `org.freedesktop.systemd1.${tolerated}`)
        return [];
      throw error;
    });
    if (job.length > 0) await this.#waitFor(job[0]);
  }

  async #waitFor(job: DBusValue | undefined): Promise<void> {
    for (;;) {
      const [ended, result] = await this.#ended.next(this.#signal);
      if (ended !== job) continue;
      if (result === 'done') return;
      throw new SystemError(`the job of systemd has ended with ${JSON.stringify(result)}`);
    }
  }
}
