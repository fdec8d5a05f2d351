import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  rmdir,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {basename, join} from 'node:path';

const CONFIG = '/sys/kernel/config/target';
const DISCOVERY = join(CONFIG, 'iscsi/discovery_auth');
const SESSIONS = '/sys/class/iscsi_session';
const DISK_BYTES = 32 * 1024 * 1024;

/** Name and password of an initiator. */
export interface ChapLogin {
  readonly username: string;
  readonly password: string;
}

/** Options of {@link startIscsiTarget}. */
export interface IscsiTargetOptions {
  /** Numbers of its disks; one disk, 1, by default. */
  readonly luns?: readonly number[];
  readonly portals?: readonly string[];
  /** CHAP names and passwords of an initiator for a session, and for the discovery of any target of this machine; nothing by default. */
  readonly chap?: Readonly<Record<'session' | 'discovery', ChapLogin>>;
}

/** A target that the kernel of this machine serves (LIO), whose disks are files without content. */
export interface IscsiTarget extends AsyncDisposable {
  readonly iqn: string;
}

/** Starts a target. Disposing ends it; nobody may be logged in then. */
export async function startIscsiTarget(
  name: string,
  {luns = [1], portals = ['127.0.0.1:3260'], chap}: IscsiTargetOptions = {},
): Promise<IscsiTarget> {
  const iqn = `iqn.2026-11.com.example:${name}`;
  if (!existsSync(CONFIG)) execFileSync('modprobe', ['-a', 'target_core_mod', 'iscsi_target_mod']);
  const directory = await mkdtemp(join(tmpdir(), 'kcri-iscsi-'));
  const group = join(CONFIG, 'iscsi', iqn, 'tpgt_1');
  const disks = join(CONFIG, 'core/fileio_0');
  await mkdir(group, {recursive: true});
  await mkdir(disks, {recursive: true});
  for (const lun of luns) {
    const file = join(directory, String(lun));
    await writeFile(file, '');
    await truncate(file, DISK_BYTES);
    const disk = join(disks, `${name}-${lun}`);
    await mkdir(disk);
    await writeFile(join(disk, 'control'), `fd_dev_name=${file},fd_dev_size=${DISK_BYTES}`);
    // Otherwise all disks of this test would have the same identity.
    await writeFile(join(disk, 'wwn/vpd_unit_serial'), `${name}-${lun}`);
    await writeFile(join(disk, 'enable'), '1');
    await mkdir(join(group, `lun/lun_${lun}`));
    await symlink(disk, join(group, `lun/lun_${lun}/disk`));
  }
  // Any initiator can write.
  const attributes = {generate_node_acls: 1, demo_mode_write_protect: 0, authentication: chap ? 1 : 0};
  for (const [attribute, value] of Object.entries(attributes))
    await writeFile(join(group, 'attrib', attribute), String(value));
  if (chap) {
    await setLogin(join(group, 'auth'), chap.session);
    await setLogin(DISCOVERY, chap.discovery);
    await writeFile(join(DISCOVERY, 'enforce_discovery_auth'), '1');
  }
  for (const portal of portals) await mkdir(join(group, 'np', portal));
  await writeFile(join(group, 'enable'), '1');
  return {
    iqn,
    [Symbol.asyncDispose]: async () => {
      await writeFile(join(group, 'enable'), '0');
      await writeFile(join(DISCOVERY, 'enforce_discovery_auth'), '0');
      for (const portal of portals) await rmdir(join(group, 'np', portal));
      for (const lun of luns) {
        await unlink(join(group, `lun/lun_${lun}/disk`));
        await rmdir(join(group, `lun/lun_${lun}`));
        await rmdir(join(disks, `${name}-${lun}`));
      }
      await rmdir(group);
      await rmdir(join(CONFIG, 'iscsi', iqn));
      await rm(directory, {recursive: true});
    },
  };
}

async function setLogin(directory: string, {username, password}: ChapLogin): Promise<void> {
  await writeFile(join(directory, 'userid'), username);
  await writeFile(join(directory, 'password'), password);
}

/** Returns the initiator names of this machine's sessions with a target. */
export async function iscsiSessions(iqn: string): Promise<readonly string[]> {
  const names = existsSync(SESSIONS) ? await readdir(SESSIONS) : [];
  const read = async (name: string, file: string): Promise<string> =>
    // A session may end meanwhile.
    (await readFile(join(SESSIONS, name, file), 'utf8').catch(() => '')).trim();
  const sessions = await Promise.all(
    names.map(async (name) => [await read(name, 'targetname'), await read(name, 'initiatorname')] as const),
  );
  return sessions.flatMap(([target, initiator]) => (target === iqn ? [initiator] : []));
}

/** Returns what iscsiadm(8) keeps about a target in its database, one line per record. */
export function iscsiRecords(iqn: string): readonly string[] {
  try {
    const shown = execFileSync('iscsiadm', ['-m', 'node'], {encoding: 'utf8', stdio: 'pipe'});
    return shown.split('\n').filter((line) => line.includes(iqn));
  } catch (error) {
    const NO_RECORDS = 21;
    if (error instanceof Error && 'status' in error && error.status === NO_RECORDS) return [];
    throw error;
  }
}

/** Returns the names of the interfaces of iscsiadm(8) that are not its own. */
export function iscsiInterfaces(): readonly string[] {
  const shown = execFileSync('iscsiadm', ['-m', 'iface'], {encoding: 'utf8'});
  const names = shown.split('\n').map((line) => basename(line.split(' ')[0] ?? ''));
  return names.filter((name) => name !== '' && name !== 'default' && name !== 'iser');
}
