import {isIPv6} from 'node:net';
import {join} from 'node:path';
import {listSysfs, readSysfs} from '../disks/sysfs.js';

/** A session of the node with an iSCSI target. */
export interface IscsiSession {
  /** Number of its SCSI host. */
  readonly host: number;
  /** Portals of its connections, as they are and as they were configured. */
  readonly portals: readonly string[];
  /** Names of the disks that the kernel knows of it, by LUN. */
  readonly disks: ReadonlyMap<number, string>;
}

/**
 * Returns the sessions with a target (GetISCSIPortalHostMapForTarget, FindDevicesForISCSILun). One that ends meanwhile is left
 * out. Rejects with SystemError.
 */
export async function readSessions(iqn: string, sys: string): Promise<readonly IscsiSession[]> {
  const hosts = join(sys, 'class/iscsi_host');
  const sessions: IscsiSession[] = [];
  for (const hostName of await listSysfs(hosts)) {
    const host = numberIn(/^host(\d+)$/, hostName);
    if (host === undefined) continue;
    const device = join(hosts, hostName, 'device');
    for (const name of (await listSysfs(device)).filter((each) => /^session\d+$/.test(each))) {
      const directory = join(device, name);
      if ((await readSysfs(join(directory, 'iscsi_session', name, 'targetname'))) !== iqn) continue;
      const [portals, disks] = [await readPortals(directory), await readDisks(directory, host)];
      sessions.push({host, portals, disks});
    }
  }
  return sessions;
}

/** Returns the session through a portal; undefined if there is none. */
export function sessionOf(sessions: readonly IscsiSession[], portal: string): IscsiSession | undefined {
  return sessions.find(({portals}) => portals.includes(portal));
}

async function readPortals(session: string): Promise<readonly string[]> {
  const portals = new Set<string>();
  for (const name of (await listSysfs(session)).filter((each) => /^connection\d+:\d+$/.test(each))) {
    const directory = join(session, name, 'iscsi_connection', name);
    for (const prefix of ['', 'persistent_']) {
      const address = await readSysfs(join(directory, `${prefix}address`));
      const port = await readSysfs(join(directory, `${prefix}port`));
      if (address !== undefined && port !== undefined) portals.add(joinHostPort(address, port));
    }
  }
  return [...portals];
}

function joinHostPort(host: string, port: string): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Returns the disks of a session; channel and target are always 0 for iSCSI. */
async function readDisks(session: string, host: number): Promise<ReadonlyMap<number, string>> {
  const target = join(session, `target${host}:0:0`);
  const disks = new Map<number, string>();
  for (const name of await listSysfs(target)) {
    const lun = numberIn(new RegExp(`^${host}:0:0:(\\d+)$`), name);
    if (lun === undefined) continue;
    const [disk] = await listSysfs(join(target, name, 'block'));
    if (disk !== undefined && /^sd[a-z]+$/.test(disk)) disks.set(lun, disk);
  }
  return disks;
}

function numberIn(pattern: RegExp, name: string): number | undefined {
  const digits = pattern.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
