import {access, mkdtemp, readdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {DEBIAN_PACKAGES} from './bare-root.js';
import {BuiltRelease, readManifest, releasing, run, TARGET} from './built-release.js';

const NOBODY = {uid: 65534, gid: 65534};

let release: BuiltRelease;
beforeAll(async () => {
  // Its packages take long to compress; other-platforms.test.ts installs them.
  release = await BuiltRelease.build(TARGET, '--no-packages');
});
afterAll(() => release[Symbol.asyncDispose]());

test('a release requires an empty directory', async () => {
  const into = await mkdtemp(join(release.folder, 'full-'));
  await writeFile(join(into, 'precious'), '');
  await expect(run(process.execPath, releasing(into))).rejects.toThrow('is not empty');
  expect(await readdir(into)).toEqual(['precious']);
});

test('a release without a program that makes packages fails at once and says what to install', async () => {
  const into = join(release.folder, 'without-rpmbuild');
  const PATH = join(release.folder, 'nothing');
  const failure = await run(process.execPath, releasing(into, TARGET), {env: {PATH}}).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({
    code: 1,
    stderr:
      'packages need dpkg-deb and rpmbuild: run "apt-get install dpkg rpm", or leave the packages out with --no-packages\n',
  });
  await expect(readdir(into)).rejects.toThrow('ENOENT');
});

test('the checksums are correct and complete', async () => {
  const {stdout} = await run('sha256sum', ['--check', 'SHA256SUMS'], {cwd: release.path('')});
  const names = [`-${TARGET}.cdx.json`, `-${TARGET}.tar.gz`, '.cdx.json', '.tgz'];
  expect(stdout.trim().split('\n').sort()).toEqual(
    names.map((name) => `kcri-${release.version}${name}: OK`).sort(),
  );
});

describe('the archive, on a minimal Debian with an older libc', () => {
  let root: string;
  let inside: (...words: string[]) => Promise<string>;
  beforeAll(async () => {
    const packages = DEBIAN_PACKAGES;
    ({root, inside} = await release.unpack('debian', {target: TARGET, packages, tar: ['tar']}));
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
    expect(await inside(...asNobody, '--version')).toMatch(`kcri version v${release.version}\n`);
    expect(await inside(...asNobody, '--help')).toContain('COMMANDS');
  });

  test('contains the manual pages and completions at the standard paths', async () => {
    const pages = (await readManifest()).man.map((page) => page.replace(/^.*\/(.*)\.1\.gz$/, '$1'));
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

test('npm installs the program and the manual pages for all users, without build dependencies', async () => {
  const prefix = join(release.folder, 'prefix');
  await run('npm', [
    'install',
    '--global',
    '--prefer-offline',
    '--prefix',
    prefix,
    release.path(`kcri-${release.version}.tgz`),
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
  expect(await says(['--version'], NOBODY)).toMatch(new RegExp(`^kcri version v${release.version}\n`));
  expect(await says(['--help'], NOBODY)).toContain('COMMANDS');
  for (const page of (await readManifest()).man)
    await access(join(prefix, page.replace('./dist/man', 'share/man/man1')));
  await expect(access(join(prefix, 'lib/node_modules/kcri/node_modules/@oclif'))).rejects.toThrow('ENOENT');
});
