import {accessSync, constants, statSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {ROOT, run, say, SetupError} from './run.mjs';

const SYSTEM_DIRS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** What the demo and the tests run, each by where it may be, and Debian's package for it. */
const PROGRAMS = [
  {anyOf: ['containerd'], aptPackage: 'containerd'},
  {anyOf: ['runc', 'crun'], aptPackage: 'runc'},
  {
    anyOf: ['/opt/cni/bin/bridge', '/usr/lib/cni/bridge', '/usr/libexec/cni/bridge'],
    aptPackage: 'containernetworking-plugins',
  },
  {anyOf: ['iptables'], aptPackage: 'iptables'},
  {anyOf: ['ip'], aptPackage: 'iproute2'},
  {anyOf: ['/var/lib/dpkg/info/busybox-static.list'], aptPackage: 'busybox-static'},
  {anyOf: ['docker-registry'], aptPackage: 'docker-registry'},
  {anyOf: ['zsh'], aptPackage: 'zsh'},
  {anyOf: ['fish'], aptPackage: 'fish'},
  {anyOf: ['tmux'], aptPackage: 'tmux'},
  {anyOf: ['sudo'], aptPackage: 'sudo'},
];

/** Throws SetupError unless this is root on a machine with apt. From now on system programs are in PATH: `su` may leave them out. */
export async function checkMachine() {
  if (process.getuid() !== 0) {
    throw new SetupError(
      'kcri starts containers and installs packages, which needs root: run the command again as root, for example with sudo.',
    );
  }
  if (!isThere('apt-get')) {
    throw new SetupError(
      'kcri installs what it needs with apt-get, which is not on this machine: run the command on Debian or a system made from it.',
    );
  }
  process.env.PATH = [process.env.PATH, ...SYSTEM_DIRS].join(delimiter);
}

/** `npm ci`, unless what is installed is as new as package-lock.json. */
export async function installNpmPackages() {
  // npm writes this file at the end of every installation.
  const installed = modifiedAt(join(ROOT, 'node_modules/.package-lock.json'));
  if (installed >= modifiedAt(join(ROOT, 'package-lock.json'))) return;
  say('installing npm packages (npm ci)');
  const code = await run('npm', ['ci'], {quiet: true});
  if (code !== 0)
    throw new SetupError(
      '"npm ci" failed: see what it says above, put that right and run the command again.',
    );
}

/** Installs the programs that are missing; asks for new package lists only when the old ones don't do. */
export async function installPrograms() {
  const packages = PROGRAMS.filter(({anyOf}) => !anyOf.some(isThere)).map(({aptPackage}) => aptPackage);
  if (packages.length === 0) return;
  say(`installing ${packages.join(', ')} (apt-get)`);
  if ((await aptInstall(packages)) === 0) return;
  say('renewing the package lists (apt-get update)');
  await run('apt-get', ['-q', 'update'], {quiet: true});
  if ((await aptInstall(packages)) === 0) return;
  throw new SetupError(
    `"apt-get install ${packages.join(' ')}" failed: see what it says above, put that right and run the command again.`,
  );
}

function aptInstall(packages) {
  const options = ['-q', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'];
  return run('apt-get', [...options, 'install', ...packages], {
    quiet: true,
    env: {DEBIAN_FRONTEND: 'noninteractive'},
  });
}

function isThere(program) {
  if (program.startsWith('/')) return modifiedAt(program) > 0;
  return process.env.PATH.split(delimiter).some((dir) => isExecutable(join(dir, program)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** 0 when it isn't there. */
function modifiedAt(path) {
  return statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0;
}
