import {execFile} from 'node:child_process';
import {access, chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {fetchFromSuite, fetchRoot} from '../../../scripts/test-runtimes/debian-suite.mjs';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';

const run = promisify(execFile);
const TARGET = `linux-${process.arch}`;
/** The other architecture with an executable: its names in kcri, in Debian and in QEMU. */
const OTHER =
  process.arch === 'arm64'
    ? {target: 'linux-x64', debian: 'amd64', qemu: 'x86_64'}
    : {target: 'linux-arm64', debian: 'arm64', qemu: 'aarch64'};

/** Environment of a login shell on a minimal machine, without HOME. */
const BARE = {env: {PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'}};
/** Runs a command in a root directory with /proc, which Bun needs; nothing stays mounted. */
const IN_ROOT = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"';
const NOBODY = {uid: 65534, gid: 65534};

/** The release built from this checkout, and the directory in which it is tested. */
let folder: string;
const released = (name: string) => join(folder, 'release', name);
const manifest = async () =>
  JSON.parse(await readFile('package.json', 'utf8')) as {version: string; man: string[]};
let version: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kcri-install-'));
  await chmod(folder, 0o755);
  ({version} = await manifest());
  const targets = [TARGET, `${TARGET}-musl`, OTHER.target];
  await run(process.execPath, releasing(join(folder, 'release'), ...targets));
});
afterAll(() => rm(folder, {recursive: true}));

function releasing(into: string, ...targets: string[]): string[] {
  return ['scripts/release.mjs', '--folder', into, ...targets];
}

test('a release requires an empty directory', async () => {
  const into = await mkdtemp(join(folder, 'full-'));
  await writeFile(join(into, 'precious'), '');
  await expect(run(process.execPath, releasing(into))).rejects.toThrow('is not empty');
  expect(await readdir(into)).toEqual(['precious']);
});

test('the checksums are correct and complete', async () => {
  const {stdout} = await run('sha256sum', ['--check', 'SHA256SUMS'], {cwd: released('')});
  const names = [
    `-${OTHER.target}.cdx.json`,
    `-${OTHER.target}.tar.gz`,
    `-${TARGET}.cdx.json`,
    `-${TARGET}.tar.gz`,
    `-${TARGET}-musl.cdx.json`,
    `-${TARGET}-musl.tar.gz`,
    '.cdx.json',
    '.tgz',
  ];
  expect(stdout.trim().split('\n').sort()).toEqual(names.map((name) => `kcri-${version}${name}: OK`).sort());
});

/** Creates a root directory of some Debian packages, with an archive unpacked into its /usr/local. */
async function unpackedRoot(
  name: string,
  {packages, archive, tar}: {packages: string[]; archive: string; tar: string[]},
) {
  const root = join(folder, name);
  await cp(await fetchRoot({suites: ['bullseye', 'bookworm', 'stable'], packages, into: CACHE}), root, {
    recursive: true,
    verbatimSymlinks: true,
  });
  for (const made of ['proc', 'run', 'tmp', 'usr/local']) await mkdir(join(root, made), {recursive: true});
  await cp(released(archive), join(root, 'tmp/kcri.tar.gz'));
  const inside = async (...words: string[]) =>
    (await run('unshare', ['--mount', 'sh', '-c', IN_ROOT, root, ...words], BARE)).stdout;
  await inside(...tar, '-C', '/usr/local', '-xzf', '/tmp/kcri.tar.gz');
  return {root, inside};
}

describe('the archive, on a minimal Debian with an older libc', () => {
  let root: string;
  let inside: (...words: string[]) => Promise<string>;
  beforeAll(async () => {
    const packages = ['base-files', 'bash', 'coreutils', 'dash', 'gzip', 'man-db', 'tar'];
    ({root, inside} = await unpackedRoot('debian', {
      packages,
      archive: `kcri-${version}-${TARGET}.tar.gz`,
      tar: ['tar'],
    }));
  });

  test('runs kcri on a runtime, and as any user', async () => {
    const sandbox = aSandbox({name: 'web'});
    const socketPath = join(root, 'run/containerd.sock');
    await using runtime = await FakeRuntime.start({
      socketPath,
      sandboxes: [sandbox],
      containers: [aContainer({sandbox, name: 'server'})],
    });
    expect(runtime.endpoint).toBe(`unix://${socketPath}`);
    const endpoint = ['--runtime-endpoint', 'unix:///run/containerd.sock'];
    expect(await inside('kcri', ...endpoint, 'version')).toMatch(/^RuntimeApiVersion: +v1$/m);
    expect(await inside('kcri', ...endpoint, 'ps')).toMatch(/\bserver\b.*\bweb\b/);
    expect(await inside('kcri', 'kubelet', '--help')).toContain('--pod-manifest-path');
    const asNobody = ['chroot', '--userspec=65534:65534', '/', 'kcri'];
    expect(await inside(...asNobody, '--version')).toMatch(`kcri version v${version}\n`);
    expect(await inside(...asNobody, '--help')).toContain('COMMANDS');
  });

  test('contains the manual pages and completions at the standard paths', async () => {
    const pages = (await manifest()).man.map((page) => page.replace(/^.*\/(.*)\.1\.gz$/, '$1'));
    expect(await inside('man', '-w', ...pages)).toBe(
      pages.map((page) => `/usr/local/share/man/man1/${page}.1\n`).join(''),
    );
    expect(
      await inside('bash', '-c', '. /usr/local/share/bash-completion/completions/kcri; complete -p kcri'),
    ).toBe('complete -F _kcri kcri\n');
    const zsh = await readFile(join(root, 'usr/local/share/zsh/site-functions/_kcri'), 'utf8');
    expect(zsh).toMatch(/^#compdef kcri\n/);
    await access(join(root, 'usr/local/share/fish/vendor_completions.d/kcri.fish'));
    expect(await inside('cat', '/usr/local/share/doc/kcri/THIRD-PARTY-NOTICES.txt')).toContain('Bun ');
  });
});

test('the musl archive only needs the C++ library in a root of busybox and musl', async () => {
  const {inside} = await unpackedRoot('musl', {
    packages: ['busybox-static', 'musl'],
    archive: `kcri-${version}-${TARGET}-musl.tar.gz`,
    tar: ['busybox', 'tar'],
  });
  const loader = `/lib/ld-musl-${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}.so.1`;
  const failure = await inside(loader, '--list', '/usr/local/bin/kcri').catch((error: unknown) =>
    String((error as {stderr?: string}).stderr),
  );
  const missing = [...failure.matchAll(/^Error loading shared library (\S+):/gm)].map(
    ([, library]) => library,
  );
  expect(missing).toEqual(['libstdc++.so.6']);
});

test('the archive for the other architecture runs under emulation', async () => {
  const packages = ['libc6', 'libgcc-s1', 'libstdc++6'];
  const suites = ['bookworm', 'stable'];
  const root = await fetchRoot({suites, packages, architecture: OTHER.debian, into: CACHE});
  const qemu = await fetchFromSuite({suites: ['bookworm'], package: 'qemu-user-static', into: CACHE});
  const emulator = join(qemu, `usr/bin/qemu-${OTHER.qemu}-static`);
  const unpacked = await mkdtemp(join(folder, 'other-'));
  await run('tar', ['-C', unpacked, '-xzf', released(`kcri-${version}-${OTHER.target}.tar.gz`)]);
  await using runtime = await FakeRuntime.start({containers: [aContainer({name: 'server'})]});
  const env = {...BARE.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  const says = async (...args: string[]) =>
    (await run(emulator, ['-L', root, join(unpacked, 'bin/kcri'), ...args], {env})).stdout;
  expect(await says('--version')).toMatch(new RegExp(`^kcri version v${version}\n`));
  expect(await says('--help')).toContain('COMMANDS');
  expect(await says('ps')).toMatch(/\bserver\b/);
  expect(await says('plan', '--offline', 'examples/web.yaml')).toContain('RunPodSandbox');
});

test('npm installs the program and the manual pages for all users, without build dependencies', async () => {
  const prefix = join(folder, 'prefix');
  await run('npm', [
    'install',
    '--global',
    '--prefer-offline',
    '--prefix',
    prefix,
    released(`kcri-${version}.tgz`),
  ]);
  const kcri = join(prefix, 'bin/kcri');
  await using runtime = await FakeRuntime.start({containers: [aContainer({name: 'server'})]});
  const env = {PATH: process.env['PATH'], CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  const says = async (args: readonly string[], options = {}) =>
    (await run(kcri, args, {env, ...options})).stdout;
  expect(await says(['version'])).toMatch(/^RuntimeApiVersion: +v1$/m);
  expect(await says(['ps', '-q'])).toMatch(/^[\da-f]{64}\n$/);
  expect(await says(['kubelet', '--help'])).toContain('--pod-manifest-path');
  expect(await says(['plan', '--offline', 'examples/web.yaml'])).toContain('RunPodSandbox');
  expect(await says(['--version'], NOBODY)).toMatch(new RegExp(`^kcri version v${version}\n`));
  expect(await says(['--help'], NOBODY)).toContain('COMMANDS');
  for (const page of (await manifest()).man)
    await access(join(prefix, page.replace('./dist/man', 'share/man/man1')));
  await expect(access(join(prefix, 'lib/node_modules/kcri/node_modules/@oclif'))).rejects.toThrow('ENOENT');
});
