import {execFile, spawn} from 'node:child_process';
import {chmod, mkdir, readdir, rm, statfs, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {
  aContainerSpec,
  aManifest,
  aScene,
  expectUserError,
  NO_LEFTOVERS,
  type PodScene,
} from '../pod-scene.js';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

const NOBODY = 65534;
const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

/** Mounting and other users take root; without it these tests have nothing to stand on. */
const asRoot = test.runIf(isRoot);

interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** Runs a line of shell in which `$KCRI` is the built kcri with the scene's runtime and root directory. */
async function shell(scene: PodScene, line: string, options: {uid?: number} = {}): Promise<ShellResult> {
  const child = spawn('bash', ['-c', line], {
    ...options,
    // With a socket as its input bash would read the user's .bashrc.
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      KCRI: KCRI_COMMAND.join(' '),
      CONTAINER_RUNTIME_ENDPOINT: scene.runtime.endpoint,
      KCRI_ROOT_DIR: scene.rootDir,
    },
  });
  const said = {stdout: '', stderr: ''};
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return {...said, exitCode};
}

/** A tmpfs as the scene's root directory; `full` fills it until only so many bytes are left. */
async function mountRoot(scene: PodScene, options: string): Promise<void> {
  await mkdir(scene.rootDir, {recursive: true});
  await run('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', scene.rootDir]);
  onTestFinished(async () => {
    await run('umount', [scene.rootDir]);
  });
}

async function fill(scene: PodScene, bytesLeft: number): Promise<void> {
  const {bavail, bsize} = await statfs(scene.rootDir);
  await writeFile(join(scene.rootDir, 'filler'), Buffer.alloc(Math.max(0, bavail * bsize - bytesLeft)));
}

describe('stdout that is closed early', () => {
  test.each([
    ['plan', '1. RunPodSandbox'],
    ['plan -o yaml', '- namespace: default'],
    ['sync', 'default/web: sandbox '],
    ['sync -o json', '"type":"'],
    ['sync --logs', 'default/web: sandbox '],
  ])('ends a %s in peace', async (command, text) => {
    const scene = await aScene();
    const containers = Array.from({length: 40}, (_, index) => aContainerSpec(`c${index}`));
    const file = await scene.write('pod.json', aManifest({containers}));
    const head = command === 'plan' ? 'head -2' : 'head -1';
    const line = `$KCRI ${command} --pod-logs-dir ${scene.logsDir} ${file} | ${head}; echo "code \${PIPESTATUS[0]}"`;
    const {stdout, stderr} = await shell(scene, line);
    expect(stdout).toContain(text);
    expect(stdout).toContain('\ncode 0\n');
    expect(stderr).toBe('');
    if (command.startsWith('sync')) expect(scene.runtime.containers).toHaveLength(40);
  });

  test('does not keep --rm from deleting', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    const line = `$KCRI sync --rm --pod-logs-dir ${scene.logsDir} ${file} | true; echo "code \${PIPESTATUS[0]}"`;
    expect(await shell(scene, line)).toEqual({stdout: 'code 0\n', stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('a user who is not root', () => {
  asRoot('and may not open the socket is told so', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    await chmod(scene.directory, 0o755);
    const result = await shell(scene, `$KCRI sync ${file}`, {uid: NOBODY});
    expectUserError({...result, exitCode: 1});
    expect(result.stderr).toContain('permission denied');
    expect(result.stderr).toContain('hint: permission denied for unix://');
    expect(result.exitCode).toBe(1);
    expect(scene.runtime.calls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  asRoot('and may not write below the root directory is told so, and nothing is made', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    await chmod(scene.directory, 0o755);
    await chmod(join(scene.runtime.socketPath, '..'), 0o755);
    await chmod(scene.runtime.socketPath, 0o777);
    const result = await shell(scene, `$KCRI sync ${file}`, {uid: NOBODY});
    expectUserError({...result, exitCode: 1});
    expect(result.stderr).toMatch(
      /^kcri: creating the directory ".*\/root.*": permission denied\nhint: run as root, or set --root-dir to a directory that you can write to$/m,
    );
    expect(result.exitCode).toBe(1);
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('a root directory', () => {
  asRoot('that is read-only is named, and nothing is made', async () => {
    const scene = await aScene();
    await mountRoot(scene, 'ro');
    const result = await scene.run(['sync', await scene.write('pod.json', aManifest())]);
    expectUserError(result);
    expect(result.stderr).toContain(`"${scene.rootDir}/locks": read-only file system`);
    expect(result.stderr).toContain('hint: set --root-dir to a directory on a writable filesystem');
    expect(result.exitCode).toBe(1);
    expect(scene.mutatingCalls).toEqual([]);
  });

  test('whose place a file has is named, and nothing is made', async () => {
    const scene = await aScene();
    await writeFile(scene.rootDir, 'a file');
    const result = await scene.run(['sync', await scene.write('pod.json', aManifest())]);
    expectUserError(result);
    expect(result.stderr).toContain(`"${scene.rootDir}`);
    expect(result.exitCode).toBe(1);
    expect(scene.mutatingCalls).toEqual([]);
    await rm(scene.rootDir);
  });

  const hostAliases = [
    {ip: '10.0.0.1', hostnames: Array.from({length: 300}, (_, index) => `host-${index}.example`)},
  ];
  const volumes = {
    volumes: [{name: 'data', emptyDir: {}}],
    containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
  };

  // A page less each time: the record, the hosts file, the termination log …
  asRoot.each([0, 4, 8, 12, 16, 20])('on a disk with %i KiB left: all or nothing', async (kibibytes) => {
    const scene = await aScene();
    await mountRoot(scene, 'size=256k');
    await fill(scene, kibibytes * 1024);
    const file = await scene.write('pod.json', aManifest({hostAliases, ...volumes}));
    const result = await scene.run(['sync', file]);
    if (result.exitCode === 0) {
      expect(scene.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
      expect(kibibytes).toBeGreaterThan(8);
    } else {
      expectUserError(result);
      expect(result.stderr).toContain(`"${scene.rootDir}/`);
      expect(result.stderr).toContain(
        'no space left on device\nhint: free some space, or set --root-dir to a directory on',
      );
      expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
      await rm(join(scene.rootDir, 'filler'));
      expect(await scene.run(['sync', file])).toMatchObject({stderr: '', exitCode: 0});
    }
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  asRoot.each(Array.from({length: 16}, (_, index) => index))(
    'on a disk with %i inodes left: all or nothing',
    async (inodes) => {
      const scene = await aScene();
      await mountRoot(scene, `size=1m,nr_inodes=${inodes + 1}`);
      const file = await scene.write('pod.json', aManifest(volumes));
      const result = await scene.run(['sync', file]);
      if (result.exitCode === 0)
        expect(scene.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
      else {
        expectUserError(result);
        expect(result.stderr).toMatch(/"[^"]*\/root[^"]*": no space left on device\nhint: free some space/);
        expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
      }
      const deleted = await scene.run(['delete', 'web']);
      if (result.exitCode === 0) expect(deleted).toMatchObject({stderr: '', exitCode: 0});
      expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
    },
  );

  asRoot('that fills up while a pod runs does not keep anybody from deleting it', async () => {
    const scene = await aScene();
    await mountRoot(scene, 'size=256k');
    await scene.run(['sync', await scene.write('pod.json', aManifest())]);
    await fill(scene, 0);
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
    const left = await readdir(scene.rootDir, {recursive: true});
    expect(left.toSorted()).toEqual([
      'events',
      'filler',
      'locks',
      'pods',
      'records',
      'resources',
      'statuses',
    ]);
  });
});

describe('two processes that sync one pod at the same time', () => {
  test('make one sandbox, and both end with 0', async () => {
    const scene = await aScene();
    scene.runtime.injectDelay('RunPodSandbox', 100);
    const file = await scene.write('pod.json', aManifest());
    const line = `$KCRI sync --pod-logs-dir ${scene.logsDir} ${file}`;
    const results = await Promise.all([shell(scene, line), shell(scene, line)]);
    expect(results.map(({exitCode}) => exitCode)).toEqual([0, 0]);
    expect(scene.runtime.callsTo('RunPodSandbox')).toHaveLength(1);
    expect(scene.runtime.callsTo('CreateContainer')).toHaveLength(1);
  });

  test('one of which is killed leaves the other to finish', async () => {
    const scene = await aScene();
    scene.runtime.injectDelay('CreateContainer', 300, {times: 1});
    const file = await scene.write('pod.json', aManifest());
    const command = `$KCRI sync --pod-logs-dir ${scene.logsDir} ${file}`;
    const first = shell(scene, `${command} & pid=$!; echo $pid; wait $pid`);
    await until(() => scene.runtime.callsTo('CreateContainer').length !== 0);
    const second = shell(scene, command);
    const [record] = await readdir(join(scene.rootDir, 'locks'));
    expect(record).toBe('default_web.lock');
    const pid = Number((await run('readlink', [join(scene.rootDir, 'locks', record!)])).stdout.split('@')[0]);
    process.kill(pid, 'SIGKILL');
    expect((await first).exitCode).toBe(137);
    const result = await second;
    expect({...result, stdout: ''}).toMatchObject({exitCode: 0});
    expect(scene.runtime.sandboxes).toHaveLength(1);
    expect(await scene.run(['delete', 'web'])).toMatchObject({stderr: '', exitCode: 0});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});
