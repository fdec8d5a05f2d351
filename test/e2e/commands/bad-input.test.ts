import {execFile, execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {mkdir, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, shellCommand, type ManifestFields} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import type {RuntimeUpStatus} from '../harness/test-runtime.js';
import type {KcriResult} from '../harness/kcri-process.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const filesIn = (dir: string): readonly string[] =>
  existsSync(dir) ? readdirSync(dir).map((name) => join(dir, name)) : [];

describe.each(newestRuntime)('failures on a real runtime: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(await everything()).toEqual([]);
  });

  /** Returns everything that a sync may have left, in the runtime and on the machine. */
  async function everything(rootDir = testbed.runtime.rootDir): Promise<readonly string[]> {
    const {runtime} = testbed.runtime.connection;
    const [{items}, {containers}] = [await runtime.listPodSandbox(), await runtime.listContainers()];
    return [
      ...items.map(({id}) => `sandbox ${id}`),
      ...containers.map(({id}) => `container ${id}`),
      ...['records', 'pods', 'locks'].flatMap((dir) => filesIn(join(rootDir, dir))),
      ...filesIn(testbed.logsDir),
      ...readFileSync('/proc/self/mountinfo', 'utf8')
        .split('\n')
        .filter((line) => line.includes(join(rootDir, 'pods'))),
    ];
  }

  /** Expects an error in one or two lines, without a stack trace. */
  function expectFailure({stderr, exitCode}: KcriResult, text: RegExp): void {
    expect({stderr, exitCode}).toMatchObject({exitCode: 1, stderr: expect.stringMatching(text) as string});
    expect(stderr).toMatch(/^kcri: /m);
    expect(stderr).not.toMatch(/^\s+at /m);
  }

  async function killContainerd(): Promise<void> {
    const status = async (): Promise<RuntimeUpStatus> =>
      JSON.parse((await testbed.runtime.kcri(['runtime', 'status', '-o', 'json'])).stdout) as RuntimeUpStatus;
    process.kill((await status()).pid, 'SIGKILL');
    await expect.poll(async () => (await status()).state).toBe('dead');
  }

  test.each<[string, string, RegExp, ManifestFields]>([
    ['an image that is nowhere', 'image', /nowhere\.invalid/, {image: 'nowhere.invalid/none:1'}],
    [
      'an image that is absent, with the policy Never',
      'never',
      /ErrImageNeverPull.*"localhost\/none:1"/,
      {image: 'localhost/none:1', imagePullPolicy: 'Never'},
    ],
    ['a command that is not in the image', 'command', /no-such-program/, {command: ['no-such-program']}],
    ['a working directory that can not be made', 'dir', /\/proc\/none/, {workingDir: '/proc/none'}],
    [
      'a hostPath that is no directory',
      'hostpath',
      /hostPath type check failed: \/nowhere\/at\/all is not a directory/,
      {volumeMounts: [{name: 'v', mountPath: '/v'}]},
    ],
    [
      'an invalid image name',
      'name',
      /InvalidImageName|not a valid image|invalid reference/,
      {image: 'Not A Name'},
    ],
  ])('%s fails the sync with the reason, and nothing is left', async (_, name, reason, fields) => {
    const volumes = [{name: 'v', hostPath: {path: '/nowhere/at/all', type: 'Directory'}}];
    const spec = {containers: [aContainer('main', fields)], ...(name === 'hostpath' && {volumes})};
    expectFailure(await testbed.sync(aManifest(name, spec)), reason);
  });

  test.each([
    ['the second of three containers', {}],
    ['the second of three containers, with --rm', {remove: true}],
  ])('if %s cannot be created, the others are removed too', async (_, {remove}: {remove?: boolean}) => {
    const manifest = aManifest('half', {
      containers: [aContainer('a'), aContainer('b', {command: ['/nothing/there']}), aContainer('c')],
    });
    expectFailure(await testbed.sync(manifest, remove === true ? ['--rm'] : []), /"b".*\/nothing\/there/s);
  });

  test('a sandbox that the runtime cannot create is reported with the reason', async () => {
    const sysctls = [{name: 'net.ipv4.ip_local_port_range', value: 'nonsense'}];
    const result = await testbed.sync(aManifest('sysctl', {securityContext: {sysctls}}));
    expectFailure(result, /CreatePodSandboxError.*ip_local_port_range/s);
  });

  test('a failing init container fails the sync with its name, and its logs are kept', async () => {
    const manifest = aManifest('init', {
      restartPolicy: 'Never',
      initContainers: [aContainer('first', {command: shellCommand('echo why; exit 4')})],
    });
    expectFailure(await testbed.sync(manifest), /container "first" exited with code 4/);
    expect((await testbed.runtime.kcri(['logs', 'init/first'])).stdout).toBe('why\n');
    expect(await testbed.delete('init')).toMatchObject({exitCode: 0});
  });

  test('a missing runtime is reported with its endpoint, and nothing is created', async () => {
    const dir = await temporaryDirectory();
    const env = {CONTAINER_RUNTIME_ENDPOINT: `unix://${dir}/none.sock`, KCRI_ROOT_DIR: join(dir, 'root')};
    expectFailure(await testbed.sync(aManifest('none'), [], {env}), /none\.sock/);
    expect(existsSync(join(dir, 'root'))).toBe(false);
  });

  const slow = (name: string): string =>
    aManifest(name, {
      initContainers: [aContainer('wait', {command: shellCommand('trap "exit 0" TERM; sleep 2 & wait')})],
    });

  test('a runtime that crashes during a sync is an error, and a sync after its repair continues', async () => {
    const sync = testbed.startSync(slow('dies'));
    await sync.waitForOutput(/container wait started/);
    const {uid} = await testbed.pod('dies');
    await killContainerd();
    const result = await sync.exited;
    expectFailure(result, /containerd\.sock/);
    expect(result.stderr).toContain('"kcri delete default/dies"');
    expectFailure(await testbed.delete('dies'), /containerd\.sock/);

    expect(await testbed.runtime.kcri(['runtime', 'up'])).toMatchObject({exitCode: 0});
    expect(await testbed.sync(slow('dies'))).toMatchObject({exitCode: 0, stderr: ''});
    const pod = await testbed.pod('dies');
    expect(pod.uid).toBe(uid);
    expect(pod.sandboxes).toHaveLength(1);
    expect(await testbed.delete('dies')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test('a pod left incomplete by a crashed runtime can be deleted after the repair', async () => {
    const sync = testbed.startSync(slow('halves'));
    await sync.waitForOutput(/sandbox \w+ created/);
    const {uid} = await testbed.pod('halves');
    await killContainerd();
    expect(await sync.exited).toMatchObject({exitCode: 1});
    expect(await testbed.runtime.kcri(['runtime', 'up'])).toMatchObject({exitCode: 0});
    expect(await testbed.delete('halves')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });

  test('--timeout waits for a runtime that is repaired in time', async () => {
    const sync = testbed.startSync(slow('retrying'), ['--timeout', '60s']);
    await sync.waitForOutput(/container wait started/);
    await killContainerd();
    expect(await testbed.runtime.kcri(['runtime', 'up'])).toMatchObject({exitCode: 0});
    expect(await sync.exited).toMatchObject({exitCode: 0});
    expect(await testbed.delete('retrying')).toMatchObject({exitCode: 0});
  });

  test.each([0, 4, 16, 40])(
    'a root directory on a disk with %d KiB left is reported, and nothing is left',
    async (freeKib) => {
      const rootDir = await fullDisk(freeKib);
      const env = {KCRI_ROOT_DIR: rootDir};
      const manifest = aManifest('full', {
        containers: [aContainer('main', {volumeMounts: [{name: 'v', mountPath: '/v'}]})],
        volumes: [{name: 'v', emptyDir: {}}],
      });
      const result = await testbed.sync(manifest, [], {env});
      if (result.exitCode === 0)
        expect(await testbed.runtime.kcri(['delete', 'full'], {env})).toMatchObject({exitCode: 0});
      else expectFailure(result, new RegExp(`${rootDir}.*no space left on device`, 'is'));
      expect(await everything(rootDir)).toEqual([]);
    },
  );

  /** Mounts a small filesystem that is full except for `freeKib`. */
  async function fullDisk(freeKib: number): Promise<string> {
    const dir = await temporaryDirectory();
    const disk = join(dir, 'disk');
    await mkdir(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,nr_inodes=64', 'tmpfs', disk]);
    onTestFinished(() => {
      execFileSync('umount', [disk]);
    });
    await writeFile(join(disk, 'ballast'), Buffer.alloc((256 - freeKib) * 1024));
    expect((await stat(join(disk, 'ballast'))).size).toBe((256 - freeKib) * 1024);
    return join(disk, 'root');
  }

  test.each([
    ['sync', 'sync "$file" --pod-logs-dir "$logs"'],
    ['plan', 'plan "$file"'],
    ['ps', 'ps'],
  ])('%s with closed output exits without a message', async (_, command) => {
    const file = join(await temporaryDirectory(), 'pod.yaml');
    await writeFile(file, aManifest('closed'));
    const env = {
      ...process.env,
      KCRI_ROOT_DIR: testbed.runtime.rootDir,
      CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint,
    };
    const script = `file=$1 logs=$2; shift 2; "$@" ${command} | head -1`;
    const {stdout, stderr} = await promisify(execFile)(
      'sh',
      ['-c', script, 'sh', file, testbed.logsDir, ...KCRI_COMMAND],
      {env},
    );
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toBe('');
    if (command.startsWith('sync')) expect(await testbed.delete('closed')).toMatchObject({exitCode: 0});
  });

  test('no message contains secrets of the environment', async () => {
    const env = [{name: 'PASSWORD', value: 'hunter2'}];
    const manifest = aManifest('secret', {containers: [aContainer('main', {env, command: ['/none']})]});
    const {stdout, stderr} = await testbed.sync(manifest, ['-o', 'json']);
    expect(stdout + stderr).not.toContain('hunter2');
  });
});
