import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import {
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {SetupError} from '../bootstrap/run.mjs';
import {debianMirror} from '../test-runtimes/debian-suite.mjs';
import {GUEST_UNIT, GUEST_UNIT_NAME} from './guest-unit.mjs';

const run = promisify(execFile);

/** Debian release of the virtual machine: its kernel can map the users of a tmpfs, which pods with `hostUsers: false` need. */
const SUITE = 'trixie';

const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'udev', 'kmod', 'initramfs-tools', 'linux-image-cloud-amd64'],
  ...['iproute2', 'iptables', 'containernetworking-plugins', 'busybox-static', 'docker-registry'],
  ...['procps', 'e2fsprogs', 'open-iscsi', 'libstdc++6', 'ca-certificates', 'openssl'],
];

/** Units that the tests do not need; /tmp is on the disk instead of in the memory. */
const MASKED = [
  ...['tmp.mount', 'docker-registry.service', 'serial-getty@ttyS0.service', 'getty@tty1.service'],
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'ldconfig.service'],
];

const MIB = 1024 * 1024;
/** Free space for containers, images and swap files. */
const FREE_BYTES = 2048 * MIB;

/** @typedef {{readonly disk: string, readonly kernel: string, readonly initrd: string}} RootImage */

/**
 * Returns the disk, kernel and initial RAM disk of a Debian machine with systemd, Node.js, the npm packages and `folders`, which are
 * at the same paths as here. A machine that was built from the same input is reused, and older ones are removed.
 *
 * @param {{cache: string, nodeModules: string, folders: readonly string[], say: (step: string) => void, signal: AbortSignal}} input
 * @returns {Promise<RootImage>}
 * @throws {SetupError} if a step fails
 */
export async function ensureRootImage({cache, nodeModules, folders, say, signal}) {
  const machines = join(cache, 'vm');
  const target = join(machines, await digestOf(nodeModules, folders));
  const image = {
    disk: join(target, 'root.ext4'),
    kernel: join(target, 'vmlinuz'),
    initrd: join(target, 'initrd.img'),
  };
  if (existsSync(target)) return image;
  say(`building the disk of the virtual machine (Debian ${SUITE}, some minutes)`);
  await mkdir(machines, {recursive: true});
  const scratch = await mkdtemp(join(machines, '.build-'));
  try {
    await buildInto(scratch, {nodeModules, folders}, signal);
    for (const old of await readdir(machines))
      if (!old.startsWith('.')) await rm(join(machines, old), {recursive: true});
    await rename(join(scratch, 'machine'), target);
  } catch (error) {
    throw new SetupError(
      `the disk of the virtual machine cannot be built: ${String(error.stderr || error.message).trim()}`,
    );
  } finally {
    await rm(scratch, {recursive: true, force: true});
  }
  return image;
}

async function digestOf(nodeModules, folders) {
  const installed = await readFile(join(nodeModules, '.package-lock.json'), 'utf8');
  const programs = await Promise.all(folders.map(async (folder) => [folder, await listPrograms(folder)]));
  const input = [SUITE, PACKAGES, MASKED, GUEST_UNIT, process.version, installed, programs];
  return createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 32);
}

/** Returns the versions that Debian's changelogs of unpacked packages do not say: names and sizes of their files. */
async function listPrograms(folder) {
  const {stdout} = await run('find', [folder, '-type', 'f', '-printf', '%P %s\n']);
  return stdout.split('\n').sort();
}

async function buildInto(scratch, {nodeModules, folders}, signal) {
  const [root, machine] = [join(scratch, 'root'), join(scratch, 'machine')];
  await mkdir(machine);
  await bootstrap(root, signal);
  for (const path of [process.execPath, ...folders]) await copyInto(root, path);
  await cp(await realpath(nodeModules), join(root, 'kcri/node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await configure(root);
  await rename(await realpath(join(root, 'vmlinuz')), join(machine, 'vmlinuz'));
  await rename(await realpath(join(root, 'initrd.img')), join(machine, 'initrd.img'));
  const {stdout} = await run('du', ['-s', '--block-size=1', root]);
  // The file system itself needs a tenth.
  const mebibytes = Math.ceil((Number(stdout.split('\t')[0]) * 1.1 + FREE_BYTES) / MIB);
  await run('mke2fs', ['-q', '-t', 'ext4', '-d', root, join(machine, 'root.ext4'), `${mebibytes}M`], {
    signal,
  });
}

async function bootstrap(root, signal) {
  const {uri, signedBy} = await debianMirror();
  const source = `deb ${signedBy === '' ? '' : `[signed-by=${signedBy}] `}${uri} ${SUITE} main`;
  const excluded = ['doc', 'man', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const flags = [
    '--quiet',
    '--variant=minbase',
    '--mode=root',
    `--include=${PACKAGES.join(',')}`,
    ...excluded,
  ];
  await run('mmdebstrap', [...flags, SUITE, root, source], {maxBuffer: 64 * MIB, signal});
  await chmod(root, 0o755);
}

/** Copies a file or a directory to the same path below the root. */
async function copyInto(root, path) {
  await mkdir(dirname(root + path), {recursive: true});
  await cp(path, root + path, {recursive: true, verbatimSymlinks: true});
}

/** Starts the tests at the boot, and nothing that the tests do not need. */
async function configure(root) {
  const units = join(root, 'etc/systemd/system');
  await writeFile(join(units, GUEST_UNIT_NAME), GUEST_UNIT);
  await symlink(
    `/etc/systemd/system/${GUEST_UNIT_NAME}`,
    join(units, 'multi-user.target.wants', GUEST_UNIT_NAME),
  );
  for (const unit of MASKED) await symlink('/dev/null', join(units, unit));
  await writeFile(join(root, 'etc/hostname'), 'kcri-vm\n');
  await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n127.0.1.1 kcri-vm\n');
  await writeFile(join(root, 'etc/fstab'), '/dev/vda / ext4 defaults 0 1\n');
}
