import {execFile} from 'node:child_process';
import {access, chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {promisify} from 'node:util';
import {fetchFromSuite, fetchRoot} from '../../../scripts/test-runtimes/debian-suite.mjs';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';

const run = promisify(execFile);

const SUITES = ['bullseye', 'bookworm', 'stable'];
/** The packages of the root in which archives are tested too, so that it is downloaded once. */
export const DEBIAN_PACKAGES: readonly string[] = [
  'base-files',
  'bash',
  'coreutils',
  'dash',
  'gzip',
  'man-db',
  'tar',
];

/** Records its arguments, and fails if it was told to. */
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> /systemctl.log
test ! -e /systemctl-fails
`;

const MADE_BY_TESTS = [
  ...['kcri.log', 'pods', 'systemctl.log', 'systemctl-fails', 'run/systemd'],
  ...['etc/kcri', 'usr/bin/crictl', 'usr/bin/kubelet', 'usr/sbin/policy-rc.d', 'var/lib/kcri'],
];

/** Environment of a login shell on a minimal machine, without HOME. */
export const BARE = {env: {PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}};

/** Runs a command in a root directory with /proc, which Bun needs; nothing stays mounted. */
const IN_ROOT = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"';

/** Resolves with the output of a command in a root directory. */
export async function runInRoot(root: string, words: readonly string[]): Promise<string> {
  return (await run('unshare', ['--mount', 'sh', '-c', IN_ROOT, root, ...words], BARE)).stdout;
}

/** Result of a package manager. */
export interface Managed {
  readonly exitCode: number;
  readonly output: string;
}

/** How packages are installed and removed in a root directory. */
export interface PackageManager {
  readonly name: string;
  readonly extension: string;
  readonly prepare: (root: BareRoot) => Promise<void>;
  readonly install: (root: string, file: string) => readonly string[];
  readonly remove: (root: string) => readonly string[];
  /** Command that also removes the configuration, and that may fail if the package is not installed. */
  readonly purge: (root: string) => readonly string[];
  /** Command that lists the installed files. */
  readonly list: (root: string) => readonly string[];
  /** Command that prints the files that differ from those of the package. */
  readonly verify: (root: string) => readonly string[];
}

/** The only package that kcri depends on. */
const INSTALLED_LIBC = `Package: libc6
Status: install ok installed
Architecture: ${process.arch === 'arm64' ? 'arm64' : 'amd64'}
Maintainer: nobody <nobody@example.com>
Version: 2.31-13
Description: C library

`;

export const DPKG: PackageManager = {
  name: 'dpkg',
  extension: '.deb',
  prepare: async (root) => {
    await root.write('var/lib/dpkg/status', INSTALLED_LIBC);
    // The program through which Debian's packages change services.
    const unpacked = await fetchFromSuite({suites: SUITES, package: 'init-system-helpers', into: CACHE});
    const program = 'usr/bin/deb-systemd-invoke';
    await cp(join(unpacked, program), root.path(program));
  },
  install: (root, file) => ['dpkg', `--root=${root}`, '--force-confdef', '--force-confold', '-i', file],
  remove: (root) => ['dpkg', `--root=${root}`, '--remove', 'kcri'],
  purge: (root) => ['dpkg', `--root=${root}`, '--purge', 'kcri'],
  list: (root) => ['dpkg-query', `--admindir=${root}/var/lib/dpkg`, '--listfiles', 'kcri'],
  verify: (root) => ['dpkg', `--root=${root}`, '--verify', 'kcri'],
};

export const RPM: PackageManager = {
  name: 'rpm',
  extension: '.rpm',
  prepare: async ({folder}) => {
    await run('rpm', ['--root', folder, '--initdb']);
  },
  // The root has no package of the C library for rpm, and this rpm no package of its own.
  install: (root, file) => ['rpm', '--root', root, '--force-debian', '--nodeps', '-U', file],
  remove: (root) => ['rpm', '--root', root, '--force-debian', '-e', 'kcri'],
  purge: (root) => ['rpm', '--root', root, '--force-debian', '-e', 'kcri'],
  list: (root) => ['rpm', '--root', root, '-ql', 'kcri'],
  verify: (root) => ['rpm', '--root', root, '-V', '--nodeps', 'kcri'],
};

/** A root directory of a minimal Debian with a systemd that records what it is told, removed by its disposal. */
export class BareRoot implements AsyncDisposable {
  readonly folder: string;
  readonly #manager: PackageManager;

  private constructor(folder: string, manager: PackageManager) {
    this.folder = folder;
    this.#manager = manager;
  }

  static async create(manager: PackageManager): Promise<BareRoot> {
    const folder = await mkdtemp(join(tmpdir(), 'kcri-root-'));
    await chmod(folder, 0o755);
    const from = await fetchRoot({suites: SUITES, packages: DEBIAN_PACKAGES, into: CACHE});
    // Without documents and languages, which take most of the time.
    const filter = (source: string): boolean => !/\/usr\/share\/.|\/gconv$/.test(source);
    await cp(from, folder, {recursive: true, verbatimSymlinks: true, filter});
    const root = new BareRoot(folder, manager);
    for (const made of ['proc', 'tmp', 'usr/local/bin']) await mkdir(root.path(made), {recursive: true});
    await root.write('usr/bin/systemctl', SYSTEMCTL, 0o755);
    await manager.prepare(root);
    return root;
  }

  /** Removes the package and what tests make, since a new root takes several seconds. */
  async reset(): Promise<void> {
    await this.purge();
    for (const made of MADE_BY_TESTS) await rm(this.path(made), {recursive: true, force: true});
    await mkdir(this.path('run/systemd/system'), {recursive: true});
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async write(name: string, text: string, mode = 0o644): Promise<void> {
    await mkdir(dirname(this.path(name)), {recursive: true});
    await writeFile(this.path(name), text);
    await chmod(this.path(name), mode);
  }

  async read(name: string): Promise<string> {
    return await readFile(this.path(name), 'utf8');
  }

  async has(name: string): Promise<boolean> {
    return await access(this.path(name)).then(
      () => true,
      () => false,
    );
  }

  /** Installs a package file, or upgrades to it. */
  async install(file: string): Promise<Managed> {
    return await this.#run(this.#manager.install(this.folder, file));
  }

  async remove(): Promise<Managed> {
    return await this.#run(this.#manager.remove(this.folder));
  }

  async purge(): Promise<Managed> {
    return await this.#run(this.#manager.purge(this.folder));
  }

  async list(): Promise<readonly string[]> {
    return (await this.#run(this.#manager.list(this.folder))).output.trim().split('\n');
  }

  async verify(): Promise<Managed> {
    return await this.#run(this.#manager.verify(this.folder));
  }

  async inside(...words: string[]): Promise<string> {
    return await runInRoot(this.folder, words);
  }

  /** Returns what systemd was told since the last call. */
  async toldSystemd(): Promise<readonly string[]> {
    if (!(await this.has('systemctl.log'))) return [];
    const log = await this.read('systemctl.log');
    await rm(this.path('systemctl.log'));
    return log.trim().split('\n');
  }

  async #run([program = '', ...args]: readonly string[]): Promise<Managed> {
    const env = {...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive'};
    return await run(program, args, {env}).then(
      ({stdout, stderr}) => ({exitCode: 0, output: stdout + stderr}),
      (error: unknown) => {
        const {code, stdout, stderr} = error as {code: number; stdout: string; stderr: string};
        return {exitCode: code, output: stdout + stderr};
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, {recursive: true});
  }
}
