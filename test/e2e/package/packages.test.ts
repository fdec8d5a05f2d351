import {lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile} from 'node:fs/promises';
import {readdirSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, beforeEach, describe, expect, test} from 'vitest';
import {writePackages} from '../../../scripts/release/distribution/distribution.mjs';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {BareRoot, DPKG, RPM, type PackageManager} from './bare-root.js';
import {readManifest, run, TARGET} from './built-release.js';

/** Stands for the executable: lists the pods of /pods and fails without them. */
const STAND_IN = `#!/bin/sh
# VERSION
printf '%s\\n' "$*" >> /kcri.log
exec cat /pods
\0GLIBC_2.17\0`;

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'kcri-packages-'));
  for (const version of ['1.0.0-rc.1', '1.0.0', '1.1.0']) await pack(version);
  for (const manager of [DPKG, RPM]) roots.set(manager, await BareRoot.create(manager));
});
afterAll(async () => {
  for (const root of roots.values()) await root[Symbol.asyncDispose]();
  await rm(scratch, {recursive: true});
});

const roots = new Map<PackageManager, BareRoot>();

/** Returns the root of a package manager, without the package and what earlier tests have made. */
async function emptyRoot(manager: PackageManager): Promise<BareRoot> {
  const root = roots.get(manager)!;
  await root.reset();
  return root;
}

/** Writes the packages of a version with the stand-in, and returns their directory. */
async function pack(version: string, folder = join(scratch, version)): Promise<string> {
  await mkdir(folder, {recursive: true});
  const program = join(scratch, 'stand-in');
  await writeFile(program, STAND_IN.replace('VERSION', version));
  const manifest = {version, license: 'Apache-2.0'};
  const packed = {
    root: process.cwd(),
    manifest,
    target: TARGET,
    program,
    noticesText: '',
    time: 1_790_000_000,
  };
  await writePackages(packed, folder);
  return folder;
}

/** Returns the package of a version that was written before the tests. */
function packageOf(version: string, {extension}: PackageManager): string {
  const folder = join(scratch, version);
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(extension))!,
  );
}

test('the same input gives the same packages, whatever the umask', async () => {
  const umask = process.umask(0o077);
  const again = await pack('1.0.0', join(scratch, 'again')).finally(() => process.umask(umask));
  const names = await readdir(again);
  expect(names.toSorted()).toEqual((await readdir(join(scratch, '1.0.0'))).toSorted());
  for (const name of names) {
    const [first, second] = await Promise.all(
      [again, join(scratch, '1.0.0')].map((folder) => readFile(join(folder, name))),
    );
    expect(first!.equals(second!), name).toBe(true);
  }
});

describe.each([DPKG, RPM])('$name', (manager) => {
  const pre = (): string => packageOf('1.0.0-rc.1', manager);
  const old = (): string => packageOf('1.0.0', manager);
  const current = (): string => packageOf('1.1.0', manager);
  let root: BareRoot;
  beforeEach(async () => {
    root = await emptyRoot(manager);
  });

  test('installs all files of root, and neither starts nor enables anything', async () => {
    expect(await root.install(current())).toMatchObject({exitCode: 0});
    const listed = await root.list();
    const pages = (await readManifest()).man.map((page) => page.replace('./dist/man', '/usr/share/man/man1'));
    expect(listed).toEqual(
      expect.arrayContaining([
        ...['/usr/bin/kcri', '/usr/lib/systemd/system/kcri.service', '/etc/kcri/kubelet.yaml'],
        ...['/usr/share/bash-completion/completions/kcri', '/usr/share/fish/vendor_completions.d/kcri.fish'],
        ...pages,
      ]),
    );
    const zsh = {dpkg: 'vendor-completions', rpm: 'site-functions'}[manager.name];
    expect(listed).toContain(`/usr/share/zsh/${zsh}/_kcri`);
    for (const path of listed) {
      const {mode, uid, gid} = await lstat(root.path(path));
      const special: Record<string, string> = {'/usr/bin/kcri': '100755', '/etc/kcri/manifests': '40700'};
      expect([path, mode.toString(8), uid, gid]).toEqual([
        path,
        special[path] ??
          (listed.some((other) => other.startsWith(`${path}/`)) || /^\/\.?$/.test(path) ? '40755' : '100644'),
        0,
        0,
      ]);
    }
    expect(await root.verify()).toEqual({exitCode: 0, output: ''});
    expect(await root.toldSystemd()).toEqual(['daemon-reload']);
    expect(await root.has('etc/systemd')).toBe(false);
  });

  test('the unit runs the kubelet with the configuration, and ends no container', async () => {
    await root.install(current());
    const unit = await root.read('usr/lib/systemd/system/kcri.service');
    expect(unit).toContain('\nExecStart=/usr/bin/kcri kubelet --config=/etc/kcri/kubelet.yaml\n');
    expect(unit).toContain('\nKillMode=process\n');
    expect(unit).not.toMatch(/^ExecStop/m);
    expect(await root.read('etc/kcri/kubelet.yaml')).toContain('\nstaticPodPath: /etc/kcri/manifests\n');
  });

  test('an upgrade restarts the daemon only if it runs, and keeps the configuration', async () => {
    await root.install(pre());
    const edited = `${await root.read('etc/kcri/kubelet.yaml')}maxPods: 7\n`;
    await root.write('etc/kcri/kubelet.yaml', edited);
    await root.write('etc/kcri/manifests/web.yaml', 'kind: Pod\n');
    await root.toldSystemd();
    for (const file of [old(), current()]) {
      expect(await root.install(file)).toMatchObject({exitCode: 0});
      expect(await root.toldSystemd()).toEqual(['daemon-reload', 'try-restart kcri.service']);
    }
    expect(await root.read('usr/bin/kcri')).toContain('# 1.1.0\n');
    expect(await root.read('etc/kcri/kubelet.yaml')).toBe(edited);
    expect(await root.has('etc/kcri/manifests/web.yaml')).toBe(true);
    expect(await root.has('kcri.log')).toBe(false);
  });

  test('the removal stops and disables the daemon, and names the pods that keep running', async () => {
    await root.install(current());
    await root.write('pods', 'default/web\nkube-system/dns\n');
    await root.write('var/lib/kcri/records/web.json', '{}');
    await root.toldSystemd();
    const {exitCode, output} = await root.remove();
    expect(exitCode).toBe(0);
    expect(output).toContain(
      'kcri: these pods keep running (2), but nothing restarts their containers:\ndefault/web\nkube-system/dns\n' +
        'kcri: to delete them with their data, install kcri again and run "kcri delete --all"\n',
    );
    expect(await root.read('kcri.log')).toMatch(
      /^get pods --root-dir=\/var\/lib\/kcri --manager=kcri -o jsonpath=.*\n$/,
    );
    expect(await root.toldSystemd()).toEqual([
      'stop kcri.service',
      '--no-reload --quiet disable kcri.service',
      'daemon-reload',
    ]);
    expect(await root.has('usr/bin/kcri')).toBe(false);
    expect(await root.has('usr/share/man/man1/kcri.1.gz')).toBe(false);
    expect(await root.has('var/lib/kcri/records/web.json')).toBe(true);
  });

  test('the removal says that pods keep running if they cannot be listed, and nothing without pods', async () => {
    await root.install(current());
    await mkdir(root.path('var/lib/kcri'), {recursive: true});
    expect((await root.remove()).output).toContain(
      'kcri: pods that kcri runs keep running, but it could not',
    );
    await root.install(current());
    await root.write('pods', '');
    expect((await root.remove()).output).not.toContain('kcri: ');
  });

  test('a systemd that fails is reported and does not fail the package', async () => {
    await root.install(old());
    await root.write('pods', '');
    await root.write('systemctl-fails', '');
    const upgraded = await root.install(current());
    expect(upgraded.exitCode).toBe(0);
    expect(upgraded.output).toContain(
      'kcri: systemd did not read kcri.service: run "systemctl daemon-reload"\n',
    );
    expect(upgraded.output).toContain(
      'kcri: kcri.service was not restarted; "systemctl status kcri.service"',
    );
    const removed = await root.remove();
    expect(removed.exitCode).toBe(0);
    expect(removed.output).toContain(
      'kcri: kcri.service was not stopped: run "systemctl stop kcri.service"\n',
    );
  });

  test('without a running systemd, as in an image build, nothing is told to start or stop', async () => {
    await rm(root.path('run/systemd'), {recursive: true});
    await root.install(old());
    await root.install(current());
    expect(await root.toldSystemd()).toEqual([]);
    await root.remove();
    expect(await root.toldSystemd()).toEqual(['--no-reload --quiet disable kcri.service']);
  });

  test('crictl and kubelet of others stay as they are, and names given to kcri end with the package', async () => {
    await root.write('usr/bin/crictl', 'real crictl', 0o755);
    await root.write('usr/bin/kubelet', 'real kubelet', 0o755);
    await root.install(old());
    expect(await readdir(root.path('usr/local/bin'))).toEqual([]);
    for (const name of ['crictl', 'kubelet'])
      await root.inside(
        'update-alternatives',
        '--install',
        `/usr/local/bin/${name}`,
        name,
        '/usr/bin/kcri',
        '10',
      );
    await root.install(current());
    for (const name of ['crictl', 'kubelet']) {
      expect(await readlink(root.path(`usr/local/bin/${name}`))).toBe(`/etc/alternatives/${name}`);
      expect(await readlink(root.path(`etc/alternatives/${name}`))).toBe('/usr/bin/kcri');
    }
    await root.remove();
    expect(await readdir(root.path('usr/local/bin'))).toEqual([]);
    expect(await root.read('usr/bin/crictl')).toBe('real crictl');
    expect(await root.read('usr/bin/kubelet')).toBe('real kubelet');
  });
});

test('policy-rc.d forbids the restart and the stop', async () => {
  const root = await emptyRoot(DPKG);
  await root.install(packageOf('1.0.0', DPKG));
  await root.write('usr/sbin/policy-rc.d', '#!/bin/sh\nexit 101\n', 0o755);
  await root.toldSystemd();
  await root.install(packageOf('1.1.0', DPKG));
  expect(await root.toldSystemd()).toEqual(['daemon-reload']);
  await root.remove();
  expect(await root.toldSystemd()).not.toContain('stop kcri.service');
});

test('purging removes the configuration, keeps the data of pods and says where it is', async () => {
  const root = await emptyRoot(DPKG);
  await root.install(packageOf('1.0.0', DPKG));
  await root.write('var/lib/kcri/records/web.json', '{}');
  await root.remove();
  expect(await root.has('etc/kcri/kubelet.yaml')).toBe(true);
  expect((await root.purge()).output).toContain('kcri: the data of its pods remains in /var/lib/kcri\n');
  expect(await root.has('etc/kcri')).toBe(false);
  expect(await root.has('var/lib/kcri/records/web.json')).toBe(true);
});

describe.each(newestRuntime)('the removal, on $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  test('names the pods that run and leaves them running, also while the runtime is down', async () => {
    expect(await testbed.sync(aManifest('left'))).toMatchObject({exitCode: 0});
    const {containers} = await testbed.pod('left');
    const {endpoint, rootDir} = testbed.runtime;
    const kcri = join(scratch, 'kcri');
    await writeFile(kcri, `#!/bin/sh\nexec ${KCRI_COMMAND.join(' ')} "$@"\n`, {mode: 0o755});
    const report = async (runtime: string): Promise<string> => {
      const scripts = join(process.cwd(), 'scripts/release/distribution');
      const functions = ['common.sh', 'before-removal.sh'].map((name) => `. ${join(scripts, name)}; `);
      const body = `set -e; ${functions.join('')} STATE_FOLDERS="/nowhere ${rootDir}"; report_pods`;
      const PATH = `${scratch}:${process.env['PATH'] ?? ''}`;
      return (await run('sh', ['-c', body], {env: {PATH, CONTAINER_RUNTIME_ENDPOINT: runtime}})).stderr;
    };
    const expected =
      'kcri: these pods keep running (1), but nothing restarts their containers:\ndefault/left\n' +
      'kcri: to delete them with their data, install kcri again and run "kcri delete --all"\n';
    expect(await report(endpoint)).toBe(expected);
    expect(await report('unix:///nowhere.sock')).toBe(expected);
    expect(await testbed.statusOf(containers[0]!.id)).toMatchObject({state: 'CONTAINER_RUNNING'});
    expect(await testbed.delete('left')).toMatchObject({exitCode: 0});
    expect(await report(endpoint)).toBe('');
  });
});
