import {mkdirSync, rmSync} from 'node:fs';
import {join} from 'node:path';
import {SIGNAL, type DBusMessage} from '../../../src/base/dbus/message.js';
import type {DBusValue, DBusVariant} from '../../../src/base/dbus/wire.js';
import {FakeBusService} from './fake-bus-service.js';

const MANAGER = {path: '/org/freedesktop/systemd1', interface: 'org.freedesktop.systemd1.Manager'};

/** How a fake systemd behaves. */
export interface FakeSystemdOptions {
  /** Directory in which slices are created. */
  readonly mount: string;
  /** Hierarchies below the directory in which systemd creates and removes cgroups (cgroup v1); the directory itself by default. */
  readonly hierarchies?: readonly string[];
  /** Its version; that of Debian 13 by default. */
  readonly version?: string;
  /** Result of its jobs; `done` by default. */
  readonly jobResult?: string;
}

/** The part of systemd that creates, changes and stops slices, which are directories. */
export class FakeSystemd implements Disposable {
  /** Calls, such as `StopUnit a.slice`, without properties of the accounting. */
  readonly log: string[] = [];
  readonly #options: FakeSystemdOptions;
  readonly #service: FakeBusService;
  readonly #slices = new Set<string>();
  #jobs = 0;

  private constructor(service: FakeBusService, options: FakeSystemdOptions) {
    this.#service = service;
    this.#options = options;
  }

  static async start(busPath: string, options: FakeSystemdOptions): Promise<FakeSystemd> {
    const service = await FakeBusService.start(busPath, ['org.freedesktop.systemd1']);
    const systemd = new FakeSystemd(service, options);
    service.onCall = (call) => {
      systemd.#receive(call);
    };
    return systemd;
  }

  #receive(call: DBusMessage): void {
    const {member = '', body = []} = call;
    const [name] = body as readonly [string];
    if (member === 'Subscribe') this.#service.reply(call);
    else if (member === 'StartTransientUnit') this.#start(call, name, body[2]);
    else if (member === 'SetUnitProperties') this.#set(call, name, body[2]);
    else if (member === 'StopUnit') this.#stop(call, name);
    else if (member === 'Get') {
      const {version = '257.8-1~deb13u2'} = this.#options;
      this.#service.reply(call, {signature: 'v', body: [{signature: 's', value: version}]});
    }
  }

  #start(call: DBusMessage, name: string, properties: DBusValue | undefined): void {
    this.log.push(`StartTransientUnit ${name} ${formatProperties(properties)}`);
    if (this.#slices.has(name)) {
      this.#service.replyError(
        call,
        'org.freedesktop.systemd1.UnitExists',
        `Unit ${name} was already loaded.`,
      );
      return;
    }
    this.#slices.add(name);
    for (const directory of this.#directories(name)) mkdirSync(directory, {recursive: true});
    this.#finishJob(call, name);
  }

  #set(call: DBusMessage, name: string, properties: DBusValue | undefined): void {
    this.log.push(`SetUnitProperties ${name} ${formatProperties(properties)}`);
    this.#service.reply(call);
  }

  #stop(call: DBusMessage, name: string): void {
    this.log.push(`StopUnit ${name}`);
    if (!this.#slices.delete(name)) {
      this.#service.replyError(call, 'org.freedesktop.systemd1.NoSuchUnit', `Unit ${name} not loaded.`);
      return;
    }
    // The files of a cgroup disappear with it.
    for (const directory of this.#directories(name)) rmSync(directory, {recursive: true, force: true});
    this.#finishJob(call, name);
  }

  #directories(slice: string): readonly string[] {
    const {mount, hierarchies = ['']} = this.#options;
    return hierarchies.map((name) => join(mount, name, pathOf(slice)));
  }

  /** Ends the job of another client, too, and the job itself before its caller knows its path. */
  #finishJob(call: DBusMessage, name: string): void {
    const job = `${MANAGER.path}/job/${(this.#jobs += 1)}`;
    const {jobResult = 'done'} = this.#options;
    for (const [path, result] of [
      [`${MANAGER.path}/job/0`, 'failed'],
      [job, jobResult],
    ] as const)
      this.#service.send({
        ...{type: SIGNAL, ...MANAGER, member: 'JobRemoved', signature: 'uoss'},
        body: [this.#jobs, path, name, result],
      });
    this.#service.reply(call, {signature: 'o', body: [job]});
  }

  [Symbol.dispose](): void {
    this.#service[Symbol.dispose]();
  }
}

/** Returns the path of a slice: `/a.slice/a-b.slice` for `a-b.slice`. */
function pathOf(slice: string): string {
  const names = slice.replace(/\.slice$/, '').split('-');
  return names.map((_, index) => `${names.slice(0, index + 1).join('-')}.slice`).join('/');
}

function formatProperties(properties: DBusValue | undefined): string {
  return (properties as readonly (readonly [string, DBusVariant])[])
    .filter(([name]) => !name.endsWith('Accounting'))
    .map(([name, {value}]) => `${name}=${value as string | bigint | boolean}`)
    .join(' ');
}
