import {mkdtemp, readdir} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {fetchFromSuite, fetchRoot} from '../../../scripts/test-runtimes/debian-suite.mjs';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {BARE, BareRoot, DPKG, RPM, type PackageManager} from './bare-root.js';
import {BuiltRelease, run, TARGET} from './built-release.js';

const MUSL = `${TARGET}-musl`;
/** The other architecture with an executable: its names in kcri, in Debian and in QEMU. */
const OTHER =
  process.arch === 'arm64'
    ? {target: 'linux-x64', debian: 'amd64', qemu: 'x86_64'}
    : {target: 'linux-arm64', debian: 'arm64', qemu: 'aarch64'};

/** The architectures of the packages, as Debian and rpm call them. */
const ARCHITECTURES: Readonly<Record<string, readonly [string, string]>> = {
  'linux-x64': ['amd64', 'x86_64'],
  'linux-arm64': ['arm64', 'aarch64'],
};

let release: BuiltRelease;
beforeAll(async () => {
  release = await BuiltRelease.build(TARGET, MUSL, OTHER.target);
});
afterAll(() => release[Symbol.asyncDispose]());

test('the musl archive only needs the C++ library in a root of busybox and musl', async () => {
  const packages = ['busybox-static', 'musl'];
  const {inside} = await release.unpack('musl', {target: MUSL, packages, tar: ['busybox', 'tar']});
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
  const unpacked = await mkdtemp(join(release.folder, 'other-'));
  await run('tar', ['-C', unpacked, '-xzf', release.path(`kcri-${release.version}-${OTHER.target}.tar.gz`)]);
  await using runtime = await FakeRuntime.start({containers: [aContainer({name: 'server'})]});
  const env = {...BARE.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  const says = async (...args: string[]) =>
    (await run(emulator, ['-L', root, join(unpacked, 'bin/kcri'), ...args], {env})).stdout;
  expect(await says('--version')).toMatch(new RegExp(`^kcri version v${release.version}\n`));
  expect(await says('--help')).toContain('COMMANDS');
  expect(await says('ps')).toMatch(/\bserver\b/);
  expect(await says('plan', '--offline', 'examples/web.yaml')).toContain('RunPodSandbox');
});

test('executables for glibc have packages, whose checksums and bills of materials are in the release', async () => {
  const {stdout} = await run('sha256sum', ['--check', 'SHA256SUMS'], {cwd: release.path('')});
  const checked = stdout
    .trim()
    .split('\n')
    .map((line) => line.replace(/: OK$/, ''));
  expect(checked.filter((name) => /\.(deb|rpm)(\.cdx\.json)?$/.test(name)).sort()).toEqual(
    Object.values(ARCHITECTURES)
      .flatMap(([debian, rpm]) => [
        `kcri-${release.version}-1.${rpm}.rpm`,
        `kcri_${release.version}-1_${debian}.deb`,
      ])
      .flatMap((name) => [name, `${name}.cdx.json`])
      .sort(),
  );
});

test('packages for the other architecture say so', async () => {
  const [debian, rpm] = ARCHITECTURES[OTHER.target]!;
  const deb = release.path(`kcri_${release.version}-1_${debian}.deb`);
  expect((await run('dpkg-deb', ['--field', deb, 'Architecture', 'Depends'])).stdout).toMatch(
    new RegExp(`^Architecture: ${debian}\nDepends: libc6 \\(>= 2\\.\\d+\\)\n$`),
  );
  const file = release.path(`kcri-${release.version}-1.${rpm}.rpm`);
  const {stdout} = await run('rpm', ['-qp', '--qf', '%{ARCH} %{OS}\n[%{REQUIRENAME}\n]', file]);
  expect(stdout).toMatch(new RegExp(`^${rpm} linux\n`));
  expect(stdout).toMatch(/^libc\.so\.6\(GLIBC_2\.\d+\)\(64bit\)$/m);
});

describe.each([DPKG, RPM])('the package for this machine: $name', (manager: PackageManager) => {
  let root: BareRoot;
  beforeAll(async () => {
    root = await BareRoot.create(manager);
    const names = ARCHITECTURES[TARGET]!;
    const file = (await readdir(release.path(''))).find(
      (name) => name.endsWith(manager.extension) && names.some((name_) => name.includes(name_)),
    )!;
    expect(await root.install(release.path(file))).toMatchObject({exitCode: 0});
  });
  afterAll(() => root[Symbol.asyncDispose]());

  test('has the unit that the command prints, whose configuration is valid', async () => {
    expect(await root.inside('kcri', '--version')).toMatch(`kcri version v${release.version}\n`);
    const kubelet = ['kcri', 'kubelet', '--config=/etc/kcri/kubelet.yaml'];
    expect(await root.inside(...kubelet, '--print-unit')).toBe(
      await root.read('usr/lib/systemd/system/kcri.service'),
    );
    expect(await root.inside(...kubelet, '--check-config')).toBe('');
  });

  test('is crictl and kubelet under the names that the administrator gives it', async () => {
    for (const name of ['crictl', 'kubelet'])
      await root.inside(
        'update-alternatives',
        '--install',
        `/usr/local/bin/${name}`,
        name,
        '/usr/bin/kcri',
        '10',
      );
    expect(await root.inside('crictl', '--version')).toMatch(/^crictl version /);
    expect(await root.inside('kubelet', '--version')).toMatch(/^Kubernetes v1\.36\./);
  });
});
