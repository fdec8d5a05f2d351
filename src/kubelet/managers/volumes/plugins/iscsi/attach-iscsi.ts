import {join} from 'node:path';
import {pause} from '../../../../../base/async/pause.js';
import type {Clock} from '../../../../../base/clock.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {listNames} from '../../../../../base/fs/files.js';
import type {RunTool} from '../../devices/disk-tools.js';
import type {DiskRoots} from '../disks/disk-roots.js';
import {deviceNameOf, findMultipath} from '../disks/multipath.js';
import {writeSysfs} from '../disks/sysfs.js';
import {copiedParameters, findDiskLink, nextAttachStep, transportOf, type IscsiDisk} from './iscsi-disk.js';
import {readSessions, sessionOf, type IscsiSession} from './iscsi-sessions.js';
import {iscsiadm, IscsiadmError, ISCSI_EXIT, unlessMissing} from './iscsiadm.js';

/** Values of a Secret by key. */
export type ChapValues = Readonly<Record<string, string>>;

/** Who the node says it is to a target: the values for its discovery and for its sessions; undefined for none. */
export interface ChapSecrets {
  readonly discovery: ChapValues | undefined;
  readonly session: ChapValues | undefined;
}

/** What attaching needs of the node. */
export interface AttachTools {
  readonly runTool: RunTool;
  readonly roots: DiskRoots;
  readonly clock: Clock;
}

/** Number of seconds for which the link to a disk, or a multipath device, is waited for. */
const LINK_SECONDS = 30;
const MULTIPATH_SECONDS = 10;

/**
 * Logs in to the target of a disk through its portals, and returns the path of the disk in /dev: that of the multipath device, if
 * there is one (AttachDisk). The caller holds the lock of the target. Rejects with SystemError, and with the signal's reason.
 */
export async function attachIscsi(
  disk: IscsiDisk,
  secrets: ChapSecrets,
  tools: AttachTools,
  signal: AbortSignal,
): Promise<string> {
  const attacher = new Attacher(disk, secrets, tools, signal);
  return await attacher.attach();
}

class Attacher {
  readonly #disk: IscsiDisk;
  readonly #secrets: ChapSecrets;
  readonly #tools: AttachTools;
  readonly #signal: AbortSignal;
  /** Names of disks in /dev, by portal. */
  readonly #found = new Map<string, string>();
  #isCopied = false;

  constructor(disk: IscsiDisk, secrets: ChapSecrets, tools: AttachTools, signal: AbortSignal) {
    this.#disk = disk;
    this.#secrets = secrets;
    this.#tools = tools;
    this.#signal = signal;
  }

  async attach(): Promise<string> {
    const {portals, sourceInterface} = this.#disk;
    const shown = await this.#read(['-m', 'iface', '-I', sourceInterface, '-o', 'show']);
    const transport = transportOf(shown);
    if (transport === undefined) throw new SystemError(`could not parse iface file for ${sourceInterface}`);
    let lastError: SystemError | undefined;
    for (let attempt = 1; ; attempt++) {
      for (const portal of portals.filter((each) => !this.#found.has(each)))
        try {
          this.#found.set(portal, await this.#attachThrough(portal, transport, shown));
        } catch (error) {
          this.#signal.throwIfAborted();
          if (!(error instanceof SystemError)) throw error;
          lastError = error;
        }
      const step = nextAttachStep(attempt, {found: this.#found.size, portals: portals.length});
      if (step === 'done') return await this.#chooseDevice();
      if (step === 'again') continue;
      if (this.#isCopied) await this.#remove(['-m', 'iface', '-I', this.#disk.interface, '-o', 'delete']);
      throw new SystemError(
        `failed to get any path for iscsi disk, last err seen:\n${messageOf(lastError)}`,
        {cause: lastError, hint: lastError?.hint},
      );
    }
  }

  /** Returns the name of the disk in /dev through a portal. */
  async #attachThrough(portal: string, transport: string, shown: string): Promise<string> {
    const {iqn, lun} = this.#disk;
    const {runTool, roots} = this.#tools;
    const sessions = async (): Promise<readonly IscsiSession[]> => await readSessions(iqn, roots.sys);
    let session = sessionOf(await sessions(), portal);
    if (session === undefined) {
      await this.#copyInterface(shown);
      await this.#logIn(portal);
      session = sessionOf(await sessions(), portal);
    }
    if (session === undefined)
      throw new SystemError(`could not get SCSI host number for portal ${portal} after logging in`, {
        hint: `look with "iscsiadm -m session" for the session, and compare its address with the portal`,
      });
    // A scan of all LUNs would find disks that are nobody's, and stay after they are deleted.
    const scan = join(roots.sys, `class/scsi_host/host${session.host}/scan`);
    await writeSysfs(scan, `0 0 ${lun}`, runTool);
    return await this.#waitForLink(portal, transport);
  }

  async #waitForLink(portal: string, transport: string): Promise<string> {
    const directory = join(this.#tools.roots.links, 'by-path');
    const find = async (): Promise<string | undefined> => {
      const link = findDiskLink(await listNames(directory), this.#disk, {portal, transport});
      return link === undefined ? undefined : await deviceNameOf(join(directory, link));
    };
    const found = await this.#waitFor(find, LINK_SECONDS);
    if (found !== undefined) return found;
    const {iqn, lun} = this.#disk;
    throw new SystemError(
      `Timed out waiting for device at path ${directory}/ip-${portal}-iscsi-${iqn}-lun-${lun} after ${LINK_SECONDS}s`,
      {hint: `check that the target has the LUN ${lun} for this initiator, and that udev runs`},
    );
  }

  /** Returns the path of the multipath device on the disks that were found, or else of the first one. */
  async #chooseDevice(): Promise<string> {
    const {sys} = this.#tools.roots;
    const names = [...this.#found.values()];
    const find = async (): Promise<string | undefined> => {
      for (const name of names) {
        const multipath = await findMultipath(name, sys);
        if (multipath !== undefined) return multipath;
      }
      return undefined;
    };
    const seconds = this.#disk.portals.length > 1 ? MULTIPATH_SECONDS : 1;
    return `/dev/${(await this.#waitFor(find, seconds)) ?? names[0]}`;
  }

  /** Tries once a second. */
  async #waitFor<T>(find: () => Promise<T | undefined>, attempts: number): Promise<T | undefined> {
    for (let attempt = 1; ; attempt++) {
      const found = await find();
      if (found !== undefined || attempt === attempts) return found;
      await pause(this.#tools.clock, 1000, this.#signal);
    }
  }

  /** Creates the interface with the initiator name, a copy of the other one (cloneIface). */
  async #copyInterface(shown: string): Promise<void> {
    const {initiatorName, sourceInterface, interface: own} = this.#disk;
    if (initiatorName === '' || this.#isCopied) return;
    if (own === sourceInterface)
      throw new SystemError(`iscsi: cannot clone iface with same name: ${sourceInterface}`);
    const parameters = copiedParameters(shown, initiatorName);
    if (parameters === undefined)
      throw new SystemError(`iscsi: failed to parse iface records: ${shown.slice(0, 1000)}`);
    try {
      await this.#change(['-m', 'iface', '-I', own, '-o', 'new'], 'failed to create new iface');
    } catch (error) {
      const cause = error instanceof SystemError ? error.cause : undefined;
      if (!(cause instanceof IscsiadmError) || cause.status !== ISCSI_EXIT.sessionExists) throw error;
    }
    this.#isCopied = true;
    for (const [name, value] of parameters)
      await this.#change(
        ['-m', 'iface', '-I', own, '-o', 'update', '-n', name, '-v', value],
        'failed to update iface records',
      );
  }

  async #logIn(portal: string): Promise<void> {
    const {iqn, interface: own} = this.#disk;
    const discovery = ['-m', 'discoverydb', '-t', 'sendtargets', '-p', portal, '-I', own];
    const node = ['-m', 'node', '-p', portal, '-T', iqn, '-I', own];
    // The record may exist.
    await this.#attempt([...discovery, '-o', 'new']);
    await this.#setChap(discovery, 'discovery.sendtargets.auth', this.#secrets.discovery);
    try {
      await this.#change([...discovery, '--discover'], `failed to sendtargets to portal ${portal}`);
    } catch (error) {
      await this.#attempt([...discovery, '-o', 'delete']);
      throw error;
    }
    // With an older iscsiadm(8), the kernel finds all LUNs.
    await this.#attempt([...node, '-o', 'update', '-n', 'node.session.scan', '-v', 'manual']);
    await this.#setChap(node, 'node.session.auth', this.#secrets.session);
    try {
      await this.#change([...node, '--login'], 'failed to attach disk');
    } catch (error) {
      await this.#attempt([...node, '-o', 'delete']);
      throw error;
    }
    // A target that is absent must not hold up the boot.
    await this.#attempt([
      ...['-m', 'node', '-p', portal, '-T', iqn],
      ...['-o', 'update', '-n', 'node.startup', '-v', 'manual'],
    ]);
  }

  /** Sets the method and the values of CHAP in a record (updateISCSIDiscoverydb, updateISCSINode). */
  async #setChap(record: readonly string[], prefix: string, values: ChapValues | undefined): Promise<void> {
    if (values === undefined) return;
    const {runTool} = this.#tools;
    const update = (name: string): readonly string[] => [
      ...record,
      ...['-o', 'update', '-n', `${prefix}.${name}`, '-v'],
    ];
    await this.#change([...update('authmethod'), 'CHAP'], 'failed to update the record with CHAP');
    for (const name of ['username', 'password', 'username_in', 'password_in']) {
      const secret = values[`${prefix}.${name}`] ?? '';
      if (secret === '') continue;
      const failure = `failed to update key "${prefix}.${name}"`;
      await withFailure(failure, async () => await iscsiadm(update(name), {runTool, secret}));
    }
  }

  /** Runs a call that changes nothing, which ends with the signal. */
  async #read(args: readonly string[]): Promise<string> {
    const {runTool} = this.#tools;
    return await iscsiadm(args, {runTool, signal: this.#signal});
  }

  /** Runs a call to its end: what iscsid(8) has begun, it would finish after the session was looked for. */
  async #change(args: readonly string[], failure: string): Promise<void> {
    this.#signal.throwIfAborted();
    const {runTool} = this.#tools;
    await withFailure(failure, async () => await iscsiadm(args, {runTool}));
  }

  /** Runs a call whose failure does not matter. */
  async #attempt(args: readonly string[]): Promise<void> {
    try {
      await this.#change(args, '');
    } catch (error) {
      this.#signal.throwIfAborted();
      rethrowUnexpected(error);
    }
  }

  async #remove(args: readonly string[]): Promise<void> {
    await unlessMissing(iscsiadm(args, {runTool: this.#tools.runTool}));
  }
}

/** Names the step in the message of a failure. */
async function withFailure(failure: string, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (cause) {
    if (!(cause instanceof SystemError)) throw cause;
    throw new SystemError(`iscsi: ${failure}: ${cause.message}`, {cause, hint: cause.hint});
  }
}
