import {mkdtemp} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {fetchFromSuite, fetchRoot} from '../../../scripts/test-runtimes/debian-suite.mjs';
import {CACHE} from '../../../scripts/test-runtimes/second-containerd.mjs';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {BARE, BuiltRelease, run, TARGET} from './built-release.js';

const MUSL = `${TARGET}-musl`;
/** The other architecture with an executable: its names in kcri, in Debian and in QEMU. */
const OTHER =
  process.arch === 'arm64'
    ? {target: 'linux-x64', debian: 'amd64', qemu: 'x86_64'}
    : {target: 'linux-arm64', debian: 'arm64', qemu: 'aarch64'};

let release: BuiltRelease;
beforeAll(async () => {
  release = await BuiltRelease.build(MUSL, OTHER.target);
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
