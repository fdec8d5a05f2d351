import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {setTimeout as delay} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {IMAGE} from '../harness/manifests.js';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import type {KcriOptions, KcriResult} from '../harness/kcri-process.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const MiB = 1024 * 1024;

describe.each(newestRuntime)('exec and attach: $name', (which) => {
  let runtime: TestRuntime;
  let pod: RunningPod;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    pod = await runPod(runtime.connection, {name: 'streams'});
  });
  afterAll(async () => {
    await runtime.connection.runtime.removePodSandbox({podSandboxId: pod.podSandboxId});
    await runtime.stop();
  });

  const exec = (args: readonly string[], options?: KcriOptions): Promise<KcriResult> =>
    runtime.kcri(['exec', ...args], options);

  test('separates the outputs, and passes on input and its end', async () => {
    const result = await exec(['-i', 'main', 'sh', '-c', 'cat; echo note >&2; exit 5'], {input: 'words'});
    expect(result).toEqual({stdout: 'words', stderr: 'note\n', exitCode: 5});
  });

  test.each([
    [['sh', '-c', 'exit 7'], 7],
    [['sh', '-c', 'kill -9 $$'], 137],
    [['sh', '-c', 'kill $$'], 143],
    [['no-such-program'], 127],
    [['/no/such/program'], 127],
    [['/etc/passwd'], 126],
    [['true'], 0],
  ])('%j exits with the exit code of the command, streamed or not', async (command, exitCode) => {
    expect((await exec(['main', ...command])).exitCode).toBe(exitCode);
    expect((await exec(['-s', 'main', ...command])).exitCode).toBe(exitCode);
  });

  test('as crictl exits with 1 for every failure', async () => {
    const env = {KCRI_COMPAT: 'crictl'};
    const {stderr, exitCode} = await exec([pod.containerId, 'sh', '-c', 'exit 7'], {env});
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `execing command in container ${pod.containerId}: command terminated with exit code 7`,
    );
  });

  test('megabytes pass through a pipe unchanged in both directions', async () => {
    const input = 'abcdefghij'.repeat(600_000);
    const {stdout} = await exec(['-i', 'main', 'cat'], {input});
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(
      createHash('sha256').update(input).digest('hex'),
    );
  });

  test('a closed reader ends it silently', () => {
    const script = `${KCRI_COMMAND.join(' ')} exec main yes | head -1; exit $\{PIPESTATUS[0]}`;
    const env = {
      ...process.env,
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI_ROOT_DIR: runtime.rootDir,
    };
    let seen = {stdout: '', stderr: '', status: 0};
    try {
      execFileSync('bash', ['-c', script], {env, stdio: 'pipe', encoding: 'utf8'});
    } catch (error) {
      seen = error as typeof seen;
    }
    expect({stdout: seen.stdout, stderr: seen.stderr, status: seen.status}).toEqual({
      stdout: 'y\n',
      stderr: '',
      status: 141,
    });
  });

  test('--timeout exits with 124, streamed or not', async () => {
    expect(await exec(['--timeout', '1', 'main', 'sleep', '60'])).toMatchObject({exitCode: 124});
    expect(await exec(['-s', '--timeout', '1', 'main', 'sleep', '60'])).toMatchObject({exitCode: 124});
  });

  test('SIGTERM exits immediately with 143', async () => {
    const running = runtime.start(['exec', 'main', 'sh', '-c', 'echo ready; sleep 60']);
    await running.waitForOutput(/ready/);
    running.kill('SIGTERM');
    expect(await running.exited).toMatchObject({exitCode: 143});
  });

  test.each([
    ['at once', 'head -c 1; exit 3', []],
    ['after a part of it, when its pipes are full', 'head -c 100000 | tail -c 1; sleep 0.3; exit 3', []],
    ['over WebSocket', 'head -c 100000 | tail -c 1; sleep 0.3; exit 3', ['--transport', 'websocket']],
  ])(
    'a command may ignore its input %s: its exit code and output are complete',
    async (_when, script, flags) => {
      for (let round = 0; round < 4; round += 1) {
        const result = await exec([...flags, '-i', 'main', 'sh', '-c', script], {input: 'x'.repeat(3 * MiB)});
        expect(result).toMatchObject({stdout: 'x', exitCode: 3});
      }
    },
  );

  test('a command may exit before an endless input ends', () => {
    const script = `yes | ${KCRI_COMMAND.join(' ')} exec -i main sh -c 'head -1; exit 3'; exit $\{PIPESTATUS[1]}`;
    const env = {
      ...process.env,
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI_ROOT_DIR: runtime.rootDir,
    };
    const {stdout, stderr, status} = spawnSync('bash', ['-c', script], {env, encoding: 'utf8'});
    expect({stdout, stderr, status}).toEqual({stdout: 'y\n', stderr: '', status: 3});
  });

  test('runs as a user, with variables, in a directory', async () => {
    const args = ['--user', 'nobody', '--env', 'A=b c', '--workdir', '/var/www', 'main', 'sh', '-c'];
    expect((await exec([...args, 'id -un; echo "$A"; pwd'])).stdout).toBe('nobody\nb c\n/var/www\n');
    const failed = await exec(['--user', 'nobody-else', 'main', 'id']);
    expect(failed.stderr).toContain('cannot run a command as "nobody-else" in this container');
    expect(failed.exitCode).toBe(126);
  });

  test('a stalled reader pauses the command without using memory', async () => {
    const env = {
      ...process.env,
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI_ROOT_DIR: runtime.rootDir,
    };
    const command = ['dd', 'if=/dev/zero', 'bs=1M', 'count=2048'];
    const [program, ...before] = KCRI_COMMAND;
    const kcri = spawn(program, [...before, 'exec', 'main', ...command], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const read = (): number =>
      Number(/^rchar: (\d+)$/m.exec(readFileSync(`/proc/${kcri.pid ?? 0}/io`, 'utf8'))?.[1]);
    const peak = (): number =>
      Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${kcri.pid ?? 0}/status`, 'utf8'))?.[1]) * 1024;
    await once(kcri.stdout, 'readable');
    let [last, still] = [0, 0];
    while (still < 10) {
      await delay(30);
      const now = read();
      still = now === last ? still + 1 : 0;
      last = now;
    }
    expect(read()).toBeLessThan(64 * MiB);
    let length = 0;
    let highest = 0;
    for await (const piece of kcri.stdout as AsyncIterable<Buffer>) {
      length += piece.length;
      if (length < 2047 * MiB) highest = Math.max(highest, length % (64 * MiB) < 65_536 ? peak() : 0);
    }
    expect(length).toBe(2048 * MiB);
    expect(highest).toBeGreaterThan(0);
    expect(highest).toBeLessThan(150 * MiB);
  });

  test("attach prints the container's output, exits with its exit code, and rejects an exited container", async () => {
    const {runtime: cri} = runtime.connection;
    const {containerId} = await cri.createContainer({
      podSandboxId: pod.podSandboxId,
      config: {
        metadata: {name: 'talker'},
        image: {image: IMAGE},
        command: ['sh', '-c', 'while [ ! -e /tmp/go ]; do echo wait; sleep 0.1; done; echo bye >&2; exit 4'],
      },
      sandboxConfig: {metadata: {name: 'streams', uid: 'uid-of-streams', namespace: 'kcri-e2e'} as never},
    });
    await cri.startContainer({containerId});
    const running = runtime.start(['attach', containerId]);
    await running.waitForOutput(/wait/);
    await exec([containerId, 'touch', '/tmp/go']);
    const {stdout, stderr, exitCode} = await running.exited;
    expect(stdout).toMatch(/^(wait\n)+$/);
    expect({stderr, exitCode}).toEqual({stderr: 'bye\n', exitCode: 4});
    const refused = await runtime.kcri(['attach', containerId]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/^kcri: attaching to container .*CONTAINER_EXITED/);
  });
});
