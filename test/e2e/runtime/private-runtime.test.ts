import {execFileSync} from 'node:child_process';
import {randomBytes, randomInt} from 'node:crypto';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {chmod, mkdir, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {busyboxSpec} from '../../../scripts/test-images.mjs';
import {buildOciArchive} from '../../../src/private-runtime/image/oci-image.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {startForeignContainerd} from '../harness/foreign-containerd.js';
import {listCgroupsAt, listLeftovers, listProcessesWithArgument} from '../harness/leftovers.js';
import {containerState, runPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime, type RuntimeUpStatus} from '../harness/test-runtime.js';
import {startImageRegistry} from '../harness/image-registry.js';
import {runKcriProcess} from '../harness/kcri-process.js';
import {newestRuntime, runtimeUpFlags, runtimes} from '../harness/runtimes-under-test.js';

async function statusOf(runtime: Pick<TestRuntime, 'kcri'>): Promise<RuntimeUpStatus> {
  return JSON.parse((await runtime.kcri(['runtime', 'status', '-o', 'json'])).stdout) as RuntimeUpStatus;
}

/** Kills the runtime's containerd with SIGKILL and returns its PID. */
async function killContainerd(runtime: TestRuntime): Promise<number> {
  const {pid} = await statusOf(runtime);
  process.kill(pid, 'SIGKILL');
  await expect.poll(async () => (await statusOf(runtime)).state).toBe('dead');
  return pid;
}

describe.each(runtimes)('a running private runtime: $name', (which) => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
  });
  afterAll(() => runtime.stop());

  test('a second up changes nothing and prints the same endpoint', async () => {
    const before = await statusOf(runtime);
    const {stdout, exitCode} = await runtime.kcri(['runtime', 'up']);
    expect({stdout, exitCode}).toEqual({stdout: `${runtime.endpoint}\n`, exitCode: 0});
    expect(await statusOf(runtime)).toEqual(before);
  });

  test("status reports containerd's configuration version", async () => {
    const status = await statusOf(runtime);
    expect(which.name).toContain(status.version);
    expect(status.configVersion).toBe(status.version.startsWith('1.') ? 2 : 3);
    expect(status).toMatchObject({state: 'up', endpoint: runtime.endpoint});
  });

  test('restrict_oom_score_adj is set if and only if CAP_SYS_RESOURCE is missing', async () => {
    const bounding = /^CapBnd:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    const isMissing = (BigInt(`0x${bounding}`) & (1n << 24n)) === 0n;
    expect((await statusOf(runtime)).restrictOomScoreAdj.value).toBe(isMissing);
  });

  test('a pod runs with an address that the host can reach', async () => {
    const {containerId, ip} = await runPod(runtime.connection);
    const {network} = await statusOf(runtime);
    expect(ip.split('.').slice(0, 3)).toEqual(network.subnet.split('.').slice(0, 3));
    expect(execFileSync('ip', ['route', 'get', ip], {encoding: 'utf8'})).toContain(`dev ${network.bridge}`);
    expect(await containerState(runtime.connection, containerId)).toBe('CONTAINER_RUNNING');
  });

  test('load accepts an archive, a gzipped one, and a directory, and prints the names', async () => {
    const dir = await temporaryDirectory();
    const archive = join(dir, 'image.tar');
    await writeFile(archive, buildOciArchive(await busyboxSpec(['localhost/loaded:1'])));
    await mkdir(join(dir, 'layout'));
    execFileSync('tar', ['-xf', archive, '-C', join(dir, 'layout')]);
    execFileSync('gzip', ['--keep', archive]);
    for (const path of [archive, `${archive}.gz`, join(dir, 'layout')]) {
      const {stdout, exitCode} = await runtime.kcri(['runtime', 'load', path]);
      expect({path, names: stdout.trim().split('\n'), exitCode}).toMatchObject({
        names: expect.arrayContaining(['localhost/loaded:1']) as unknown,
        exitCode: 0,
      });
    }
    const {image} = await runtime.connection.images.imageStatus({image: {image: 'localhost/loaded:1'}});
    expect(image?.repoTags).toContain('localhost/loaded:1');
  });

  test('images can be pulled from a registry on this machine', async () => {
    await using registry = await startImageRegistry();
    const name = await registry.push('e2e/busybox', '1');
    const {imageRef} = await runtime.connection.images.pullImage({image: {image: name}});
    const {image} = await runtime.connection.images.imageStatus({image: {image: name}});
    expect(image?.id).toBe(imageRef);
    expect(image?.repoTags).toContain(name);
  });

  test.each(['/etc/passwd', '/etc', '/nowhere'])('load of %s is an error', async (path) => {
    const {stdout, stderr, exitCode} = await runtime.kcri(['runtime', 'load', path]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toMatch(/^kcri: .*"\/(etc|nowhere)/);
  });

  test('another containerd or runc than the running one is rejected', async () => {
    const {stderr, exitCode} = await runtime.kcri(['runtime', 'up', '--runc', '/bin/true']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('not "/bin/true"');
    expect(stderr).toContain('kcri runtime down');
  });
});

describe.each(newestRuntime)('starting and stopping a private runtime: $name', (which) => {
  test('after a kill -9 of containerd, up restarts it, and its containers have kept running', async () => {
    await using runtime = await startPrivateRuntime(which);
    const {containerId} = await runPod(runtime.connection);
    const killed = await killContainerd(runtime);
    expect((await runtime.kcri(['runtime', 'up'])).stdout).toBe(`${runtime.endpoint}\n`);
    const status = await statusOf(runtime);
    expect(status).toMatchObject({state: 'up', pods: 1, containers: 1});
    expect(status.pid).not.toBe(killed);
    expect(await containerState(runtime.connection, containerId)).toBe('CONTAINER_RUNNING');
  });

  test('two concurrent ups start one containerd and print one endpoint', async () => {
    const rootDir = await temporaryDirectory();
    const up = (): ReturnType<typeof runKcriProcess> =>
      runKcriProcess(['runtime', 'up', ...runtimeUpFlags(which)], {env: {KCRI_ROOT_DIR: rootDir}});
    const [one, other] = await Promise.all([up(), up()]);
    const endpoint = `unix://${rootDir}/runtime/containerd.sock\n`;
    expect([one.stdout, other.stdout]).toEqual([endpoint, endpoint]);
    expect(listProcessesWithArgument(`--config ${rootDir}/runtime/config.toml`)).toHaveLength(1);
    expect((await runKcriProcess(['runtime', 'down'], {env: {KCRI_ROOT_DIR: rootDir}})).exitCode).toBe(0);
  });

  test.each([
    ['with containerd running', false],
    ['with containerd killed', true],
  ])('down with running pods, %s, leaves nothing', async (_, killFirst) => {
    const parent = `/kcri-e2e-${randomBytes(4).toString('hex')}`;
    const hostPort = randomInt(20_000, 30_000);
    const runtime = await startPrivateRuntime(which);
    await runPod(runtime.connection, {name: 'one', hostPort});
    await runPod(runtime.connection, {name: 'two', cgroupParent: `${parent}/pod`});
    expect(listCgroupsAt(parent)).not.toEqual([]);
    if (killFirst) await killContainerd(runtime);
    // stop() rejects if anything is left.
    await runtime.stop();
    expect(listCgroupsAt(parent)).toEqual([]);
    expect(execFileSync('iptables-save', ['-t', 'nat'], {encoding: 'utf8'})).not.toContain(
      `--dport ${hostPort}`,
    );
  });

  test('down does not affect another containerd and its containers', async () => {
    await using foreign = await startForeignContainerd();
    const before = await foreign.tasks();
    const runtime = await startPrivateRuntime(which);
    await runPod(runtime.connection);
    await runtime.stop();
    expect(before).toContain('RUNNING');
    expect(await foreign.tasks()).toBe(before);
  });

  test('down does not affect another private runtime, which has its own network', async () => {
    await using kept = await startPrivateRuntime(which);
    const {containerId} = await runPod(kept.connection);
    const runtime = await startPrivateRuntime(which);
    await runPod(runtime.connection);
    const [one, other] = [await statusOf(kept), await statusOf(runtime)];
    expect(one.network.subnet).not.toBe(other.network.subnet);
    await runtime.stop();
    expect(await containerState(kept.connection, containerId)).toBe('CONTAINER_RUNNING');
    expect((await statusOf(kept)).state).toBe('up');
  });
});

describe('error conditions', () => {
  test('down without a runtime has no effect', async () => {
    const rootDir = join(await temporaryDirectory(), 'never-made');
    const result = await runKcriProcess(['runtime', 'down'], {env: {KCRI_ROOT_DIR: rootDir}});
    expect(result).toEqual({stdout: '', stderr: '', exitCode: 0});
    expect(existsSync(rootDir)).toBe(false);
  });

  test('all missing programs are reported at once, with what to install', async () => {
    const rootDir = join(await temporaryDirectory(), 'root');
    const args = ['runtime', 'up', '--containerd', '/nowhere', '--runc', 'no-such-runc'];
    const {stdout, stderr, exitCode} = await runKcriProcess(args, {env: {KCRI_ROOT_DIR: rootDir}});
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain('not installed: "/nowhere" (--containerd); "no-such-runc" (--runc)');
    expect(existsSync(rootDir)).toBe(false);
  });

  test('a containerd that exits immediately is an error with the end of its log, and leaves nothing', async () => {
    const dir = await temporaryDirectory();
    const programs = await brokenContainerd(join(dir, 'bin'));
    const rootDir = join(dir, 'root');
    const {stderr, exitCode} = await runKcriProcess(['runtime', 'up', '--containerd', programs], {
      env: {KCRI_ROOT_DIR: rootDir},
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('containerd exited before it was ready');
    expect(stderr).toContain('no luck today');
    expect(existsSync(rootDir)).toBe(false);
    expect(listLeftovers({rootDir, bridge: 'kcri-none'})).toEqual([]);
  });

  test.each([50, 250, 350, 450])(
    'up interrupted after %i ms leaves nothing or a complete runtime',
    async (delayMs) => {
      const rootDir = join(await temporaryDirectory(), 'root');
      const env = {KCRI_ROOT_DIR: rootDir};
      const {exitCode} = await runKcriProcess(['runtime', 'up'], {env, signal: AbortSignal.timeout(delayMs)});
      if (exitCode !== 0) expect(existsSync(rootDir)).toBe(false);
      else expect((await runKcriProcess(['runtime', 'down'], {env})).exitCode).toBe(0);
      expect(listLeftovers({rootDir, bridge: 'kcri-none'})).toEqual([]);
    },
  );

  test.each(['8k', '40k', '100k'])(
    'a full disk (%s) is a one-line error with a hint, and leaves nothing',
    async (size) => {
      const rootDir = await temporaryDirectory();
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', rootDir]);
      onTestFinished(() => {
        execFileSync('umount', [rootDir]);
      });
      const {stdout, stderr, exitCode} = await runKcriProcess(['runtime', 'up'], {
        env: {KCRI_ROOT_DIR: rootDir},
      });
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
      expect(stderr).toContain('no space left on device');
      expect(stderr).not.toMatch(/^ {4}at /m);
      expect(readdirSync(rootDir)).toEqual([]);
    },
  );

  test.each(['', 'new'])('a read-only root directory (%j) is a one-line error with a hint', async (below) => {
    const mountPoint = await temporaryDirectory();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'ro', 'tmpfs', mountPoint]);
    onTestFinished(() => {
      execFileSync('umount', [mountPoint]);
    });
    const {stdout, stderr, exitCode} = await runKcriProcess(['runtime', 'up'], {
      env: {KCRI_ROOT_DIR: join(mountPoint, below)},
    });
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toMatch(
      /^kcri: creating the directory ".*": read-only file system\nhint: set --root-dir to .*\n$/,
    );
  });

  test('load without a runtime is an error', async () => {
    const rootDir = await temporaryDirectory();
    const {stderr, exitCode} = await runKcriProcess(['runtime', 'load', '/etc/passwd'], {
      env: {KCRI_ROOT_DIR: rootDir},
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('the private runtime is not running');
  });

  test('a root directory with a path too long for a socket has its socket in /run/kcri', async () => {
    const rootDir = join(await temporaryDirectory(), 'x'.repeat(100));
    const env = {KCRI_ROOT_DIR: rootDir};
    const {stdout} = await runKcriProcess(['runtime', 'up'], {env});
    expect(stdout).toMatch(/^unix:\/\/\/run\/kcri\/[0-9a-f]{16}\/containerd\.sock\n$/);
    const socket = stdout.trim().replace('unix://', '');
    expect((await runKcriProcess(['version'], {env})).stdout).toContain('containerd');
    expect((await runKcriProcess(['runtime', 'down'], {env})).exitCode).toBe(0);
    expect([existsSync(rootDir), existsSync(socket)]).toEqual([false, false]);
  });
});

/** Creates a directory with a containerd that can only print its version. */
async function brokenContainerd(folder: string): Promise<string> {
  await mkdir(folder);
  const program = join(folder, 'containerd');
  await writeFile(
    program,
    '#!/bin/sh\nif [ "$1" = --version ]; then echo containerd x 1.6.20; else echo no luck today; exit 1; fi\n',
  );
  await chmod(program, 0o755);
  await symlink('/bin/true', join(folder, 'ctr'));
  await symlink('/bin/true', join(folder, 'containerd-shim-runc-v2'));
  return folder;
}
