import {accessSync, constants, lstatSync, statSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {ROOT, run, say, SetupError} from './run.mjs';

const SYSTEM_DIRS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Programs of the demo and the tests, where they are expected, and their Debian packages. */
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
  {anyOf: ['openssl'], aptPackage: 'openssl'},
  {anyOf: ['dbus-daemon'], aptPackage: 'dbus-daemon'},
  {anyOf: ['sudo'], aptPackage: 'sudo'},
  {anyOf: ['ssh'], aptPackage: 'openssh-client'},
  {anyOf: ['valgrind'], aptPackage: 'valgrind'},
  {anyOf: ['rpmbuild'], aptPackage: 'rpm'},
  {anyOf: ['chromium'], aptPackage: 'chromium'},
];

/**
 * Adds the system directories to PATH, which `su` may omit. Throws SetupError unless this process is root and apt-get
 * exists.
 */
export async function checkMachine() {
  if (process.getuid() !== 0) {
    throw new SetupError(
      'installing packages and starting containers needs root: run the command again as root, for example with sudo.',
    );
  }
  if (!isInstalled('apt-get')) {
    throw new SetupError(
      'installing packages needs apt-get, which this machine does not have: run the command on Debian or a derivative.',
    );
  }
  process.env.PATH = [process.env.PATH, ...SYSTEM_DIRS].join(delimiter);
}

/**
 * Runs `npm ci`, unless the installation is at least as new as package-lock.json, or node_modules is a link: npm would remove
 * the packages of the checkout to which it leads.
 */
export async function installNpmPackages() {
  if (lstatSync(join(ROOT, 'node_modules'), {throwIfNoEntry: false})?.isSymbolicLink()) return;
  // npm writes this file at the end of every installation.
  const installed = modifiedAt(join(ROOT, 'node_modules/.package-lock.json'));
  if (installed >= modifiedAt(join(ROOT, 'package-lock.json'))) return;
  say('installing npm packages (npm ci)');
  const code = await run('npm', ['ci'], {quiet: true});
  if (code !== 0) throw new SetupError('"npm ci" failed: fix the errors above and try again.');
}

/**
 * Installs missing programs, and those of `more`. Updates the package lists only if the present ones are not sufficient.
 *
 * @param {readonly {anyOf: readonly string[], aptPackage: string}[]} more
 */
export async function installPrograms(more) {
  const packages = [...PROGRAMS, ...more]
    .filter(({anyOf}) => !anyOf.some(isInstalled))
    .map(({aptPackage}) => aptPackage);
  if (packages.length === 0) return;
  say(`installing ${packages.join(', ')} (apt-get)`);
  if ((await aptInstall(packages)) === 0) return;
  say('updating the package lists (apt-get update)');
  await run('apt-get', ['-q', 'update'], {quiet: true});
  if ((await aptInstall(packages)) === 0) return;
  throw new SetupError(`"apt-get install ${packages.join(' ')}" failed: fix the errors above and try again.`);
}

function aptInstall(packages) {
  const options = ['-q', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'];
  return run('apt-get', [...options, 'install', ...packages], {
    quiet: true,
    env: {DEBIAN_FRONTEND: 'noninteractive'},
  });
}

function isInstalled(program) {
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

/** Returns the mtime in ms, or 0 if the file does not exist. */
function modifiedAt(path) {
  return statSync(path, {throwIfNoEntry: false})?.mtimeMs ?? 0;
}
