import {execFile, spawn} from 'node:child_process';
import {chmod, mkdir, readdir, rm, statfs, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  NO_LEFTOVERS,
  type CommandTestbed,
} from '../command-testbed.js';
import {until} from '../../base/until.js';
import {temporaryCgroupRoot} from '../../e2e/harness/temporary-cgroup-root.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

const NOBODY = 65534;
const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

/** Tests that mount file systems or change users, which needs root. */
const asRoot = test.runIf(isRoot);

interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** Runs a shell command in which `$KCRI` is the built kcri with the testbed's runtime and root directory. */
async function shell(
  testbed: CommandTestbed,
  line: string,
  options: {uid?: number} = {},
): Promise<ShellResult> {
  const child = spawn('bash', ['-c', line], {
    ...options,
    // bash reads .bashrc if its standard input is a socket.
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      KCRI: KCRI_COMMAND.join(' '),
      CONTAINER_RUNTIME_ENDPOINT: testbed.runtime.endpoint,
      KCRI_ROOT_DIR: testbed.rootDir,
    },
  });
  const output = {stdout: '', stderr: ''};
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return {...output, exitCode};
}

/**
 * Returns flags for the places of pods that `shell` runs. These pods have real cgroups, so they get a root of their own,
 * and are deleted after the test.
 */
function placesOfPods(testbed: CommandTestbed): string {
  const cgroupRoot = temporaryCgroupRoot();
  onTestFinished(async () => {
    if ((await testbed.records()).length > 0) await shell(testbed, '$KCRI delete web');
  });
  return `--pod-logs-dir ${testbed.logsDir} --cgroup-root ${cgroupRoot}`;
}

/** Mounts a tmpfs as the testbed's root directory. */
async function mountRoot(testbed: CommandTestbed, options: string): Promise<void> {
  await mkdir(testbed.rootDir, {recursive: true});
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', testbed.rootDir]);
  onTestFinished(async () => {
    await run('umount', [testbed.rootDir]);
  });
}

async function fill(testbed: CommandTestbed, bytesLeft: number): Promise<void> {
  const {bavail, bsize} = await statfs(testbed.rootDir);
  await writeFile(join(testbed.rootDir, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - bytesLeft)));
}

describe('standard output that is closed early', () => {
  test.each([
    ['plan', '1 pod: 1 to create'],
    ['plan -o yaml', '- namespace: default'],
    ['sync', 'default/web: sandbox '],
    ['sync -o json', '"type":"'],
    ['sync --logs', 'default/web: sandbox '],
  ])('lets %s exit with 0', async (command, text) => {
    const testbed = await createTestbed();
    const containers = Array.from({length: 40}, (_, index) => aContainerSpec(`c${index}`));
    const file = await testbed.write('pod.json', aManifest({containers}));
    const head = command === 'plan' ? 'head -2' : 'head -1';
    const line = `$KCRI ${command} ${placesOfPods(testbed)} ${file} | ${head}; echo "code \${PIPESTATUS[0]}"`;
    const {stdout, stderr} = await shell(testbed, line);
    expect(stdout).toContain(text);
    expect(stdout).toContain('\ncode 0\n');
    expect(stderr).toBe('');
    if (command.startsWith('sync')) expect(testbed.runtime.containers).toHaveLength(40);
  });

  test('does not prevent the deletion with --rm', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    const line = `$KCRI sync --rm ${placesOfPods(testbed)} ${file} | true; echo "code \${PIPESTATUS[0]}"`;
    expect(await shell(testbed, line)).toEqual({stdout: 'code 0\n', stderr: '', exitCode: 0});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('a user other than root', () => {
  asRoot('can plan offline, even if the root directory belongs to root', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    await chmod(testbed.directory, 0o755);
    await mkdir(testbed.rootDir, {mode: 0o700});
    const line = `KCRI_ROOT_DIR=${testbed.rootDir} $KCRI plan --offline ${file}`;
    const {stdout, exitCode} = await shell(testbed, line, {uid: NOBODY});
    expect(exitCode).toBe(0);
    expect(stdout).toContain('1. RunPodSandbox');
  });

  asRoot('gets an error without permission for the socket', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    await chmod(testbed.directory, 0o755);
    const result = await shell(testbed, `$KCRI sync ${file}`, {uid: NOBODY});
    expectUserError({...result, exitCode: 1});
    expect(result.stderr).toContain('permission denied');
    expect(result.stderr).toContain('hint: permission denied for unix://');
    expect(result.exitCode).toBe(1);
    expect(testbed.runtime.calls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  asRoot('gets an error without permission for the root directory, and nothing is created', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    await chmod(testbed.directory, 0o755);
    await chmod(join(testbed.runtime.socketPath, '..'), 0o755);
    await chmod(testbed.runtime.socketPath, 0o777);
    const result = await shell(testbed, `$KCRI sync ${file}`, {uid: NOBODY});
    expectUserError({...result, exitCode: 1});
    expect(result.stderr).toMatch(
      /^kcri: creating the directory ".*\/root.*": permission denied\nhint: run as root, or set --root-dir to a directory that you can write to$/m,
    );
    expect(result.exitCode).toBe(1);
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('a root directory', () => {
  asRoot('that is read-only is an error, and nothing is created', async () => {
    const testbed = await createTestbed();
    await mountRoot(testbed, 'ro');
    const result = await testbed.run(['sync', await testbed.write('pod.json', aManifest())]);
    expectUserError(result);
    expect(result.stderr).toContain(`"${testbed.rootDir}/kcri/locks": read-only file system`);
    expect(result.stderr).toContain('hint: set --root-dir to a directory on a writable filesystem');
    expect(result.exitCode).toBe(1);
    expect(testbed.mutatingCalls).toEqual([]);
  });

  test('replaced by a file is an error, and nothing is created', async () => {
    const testbed = await createTestbed();
    await writeFile(testbed.rootDir, 'a file');
    const result = await testbed.run(['sync', await testbed.write('pod.json', aManifest())]);
    expectUserError(result);
    expect(result.stderr).toContain(`"${testbed.rootDir}`);
    expect(result.exitCode).toBe(1);
    expect(testbed.mutatingCalls).toEqual([]);
    await rm(testbed.rootDir);
  });

  const hostAliases = [
    {ip: '10.0.0.1', hostnames: Array.from({length: 300}, (_, index) => `host-${index}.example`)},
  ];
  const volumes = {
    volumes: [{name: 'data', emptyDir: {}}],
    containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
  };

  // Decreasing by a page each: the record, the hosts file, the termination log …
  asRoot.each([0, 4, 8, 12, 16, 20])(
    'with %i KiB of free space gets a whole pod or nothing',
    async (kibibytes) => {
      const testbed = await createTestbed();
      await mountRoot(testbed, 'size=256k');
      await fill(testbed, kibibytes * 1024);
      const file = await testbed.write('pod.json', aManifest({hostAliases, ...volumes}));
      const result = await testbed.run(['sync', file]);
      if (result.exitCode === 0) {
        expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
        expect(kibibytes).toBeGreaterThan(8);
      } else {
        expectUserError(result);
        expect(result.stderr).toContain(`"${testbed.rootDir}/`);
        expect(result.stderr).toContain(
          'no space left on device\nhint: free some space, or set --root-dir to a directory on',
        );
        expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
        await rm(join(testbed.rootDir, 'filler'));
        expect(await testbed.run(['sync', file])).toMatchObject({stderr: '', exitCode: 0});
      }
      expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
      expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
    },
  );

  asRoot.each(Array.from({length: 16}, (_, index) => index))(
    'with %i free inodes gets a whole pod or nothing',
    async (inodes) => {
      const testbed = await createTestbed();
      await mountRoot(testbed, `size=1m,nr_inodes=${inodes + 1}`);
      const file = await testbed.write('pod.json', aManifest(volumes));
      const result = await testbed.run(['sync', file]);
      if (result.exitCode === 0)
        expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
      else {
        expectUserError(result);
        expect(result.stderr).toMatch(/"[^"]*\/root[^"]*": no space left on device\nhint: free some space/);
        expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
      }
      const deleted = await testbed.run(['delete', 'web']);
      if (result.exitCode === 0) expect(deleted).toMatchObject({stderr: '', exitCode: 0});
      expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
    },
  );

  asRoot('that is full does not prevent the deletion of a pod', async () => {
    const testbed = await createTestbed();
    await mountRoot(testbed, 'size=256k');
    await testbed.run(['sync', await testbed.write('pod.json', aManifest())]);
    await fill(testbed, 0);
    expect(await testbed.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
    const left = await readdir(testbed.rootDir, {recursive: true});
    expect(left.toSorted()).toEqual([
      'filler',
      'kcri',
      'kcri/events',
      'kcri/locks',
      'kcri/mounts',
      'kcri/records',
      'kcri/resources',
      'kcri/statuses',
      'pods',
    ]);
  });
});

describe('two concurrent syncs of one pod in two processes', () => {
  test('create one sandbox, and both exit with 0', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectDelay('RunPodSandbox', 100);
    const file = await testbed.write('pod.json', aManifest());
    const line = `$KCRI sync ${placesOfPods(testbed)} ${file}`;
    const results = await Promise.all([shell(testbed, line), shell(testbed, line)]);
    expect(results.map(({exitCode}) => exitCode)).toEqual([0, 0]);
    expect(testbed.runtime.callsTo('RunPodSandbox')).toHaveLength(1);
    expect(testbed.runtime.callsTo('CreateContainer')).toHaveLength(1);
  });

  test('finish if one of them is killed', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectDelay('CreateContainer', 300, {times: 1});
    const file = await testbed.write('pod.json', aManifest());
    const command = `$KCRI sync ${placesOfPods(testbed)} ${file}`;
    const first = shell(testbed, `${command} & pid=$!; echo $pid; wait $pid`);
    await until(() => testbed.runtime.callsTo('CreateContainer').length !== 0);
    const second = shell(testbed, command);
    const lock = join(testbed.rootDir, 'kcri/locks/default_web.lock');
    const pid = Number((await run('readlink', [lock])).stdout.split('@')[0]);
    process.kill(pid, 'SIGKILL');
    expect((await first).exitCode).toBe(137);
    const result = await second;
    expect({...result, stdout: ''}).toMatchObject({exitCode: 0});
    expect(testbed.runtime.sandboxes).toHaveLength(1);
    expect(await shell(testbed, '$KCRI delete web')).toMatchObject({stderr: '', exitCode: 0});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});
