import {execFileSync} from 'node:child_process';
import {mkdtempSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {podUid, type ContainerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {IMAGE, shellCommand} from '../harness/manifests.js';
import {containerState} from '../harness/run-pod.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

describe.each(newestRuntime)('logs of real containers: $name', (which) => {
  let runtime: TestRuntime;
  let dir: string;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    dir = mkdtempSync(join(tmpdir(), 'kcri-logs-'));
  });
  afterAll(async () => {
    await runtime.stop();
    rmSync(dir, {recursive: true});
  });

  /** Creates a pod as a kubelet does, in which containers are started; it is removed at the end of the test. */
  async function aPod(name: string) {
    const {runtime: cri} = runtime.connection;
    const labels = {
      'io.kubernetes.pod.name': name,
      'io.kubernetes.pod.namespace': 'logs',
      'io.kubernetes.pod.uid': `uid-of-${name}`,
    };
    const sandboxConfig = {
      metadata: {name, namespace: 'logs', uid: podUid(`uid-of-${name}`), attempt: 0},
      logDirectory: join(dir, name),
      labels,
      linux: {},
    };
    const {podSandboxId} = await cri.runPodSandbox({config: sandboxConfig});
    onTestFinished(async () => {
      await cri.stopPodSandbox({podSandboxId});
      await cri.removePodSandbox({podSandboxId});
    });
    const run = async (container: string, attempt: number, script: string): Promise<ContainerId> => {
      const config = {
        metadata: {name: container, attempt},
        image: {image: IMAGE},
        command: shellCommand(script),
        labels: {...labels, 'io.kubernetes.container.name': container},
        annotations: {'io.kubernetes.container.restartCount': String(attempt)},
        logPath: `${container}-${attempt}.log`,
        linux: {},
      };
      const {containerId} = await cri.createContainer({podSandboxId, config, sandboxConfig});
      await cri.startContainer({containerId});
      return containerId;
    };
    const log = (file: string): string => join(dir, name, file);
    return {podSandboxId, run, log};
  }

  const rotatedBy = (path: string, second: number): string => `${path}.20261120-1400${second}`;

  test('-f follows a rotated log, and later all rotated files are read, including gzipped ones', async () => {
    const pod = await aPod('rotated');
    const step = (text: string): string =>
      `echo ${text}; while [ ! -e /tmp/${text} ]; do usleep 20000; done;`;
    const id = await pod.run('main', 0, `${step('one')} ${step('two')} echo three`);
    const following = runtime.start(['logs', '-f', 'rotated/main']);
    const path = pod.log('main-0.log');
    const rotate = async (text: string, second: number): Promise<void> => {
      await following.waitForOutput(new RegExp(`^${text}$`, 'm'));
      renameSync(path, rotatedBy(path, second));
      await runtime.connection.runtime.reopenContainerLog({containerId: id});
      await runtime.connection.runtime.execSync({containerId: id, cmd: ['touch', `/tmp/${text}`]});
    };
    await rotate('one', 10);
    await rotate('two', 20);
    await following.waitForOutput(/^three$/m);
    following.kill('SIGINT');
    expect(await following.exited).toMatchObject({stdout: 'one\ntwo\nthree\n', exitCode: 0});
    const oldest = rotatedBy(path, 10);
    writeFileSync(`${oldest}.gz`, gzipSync(await readFile(oldest)));
    rmSync(oldest);
    const shown = async (...args: readonly string[]): Promise<string> =>
      (await runtime.kcri(['logs', ...args, 'rotated/main'])).stdout;
    expect(await shown()).toBe('one\ntwo\nthree\n');
    expect(await shown('--tail', '2')).toBe('two\nthree\n');
    expect(await shown('--since', '1h')).toBe('one\ntwo\nthree\n');
    expect(await shown('--until', '1h')).toBe('');
    expect((await runtime.kcri(['logs', 'rotated/main'], {env: {KCRI_COMPAT: 'crictl'}})).exitCode).toBe(1);
    const literal = await runtime.kcri(['logs', id], {env: {KCRI_COMPAT: 'crictl'}});
    expect(literal.stdout).toBe('three\n');
  });

  test.each([
    {kind: '/dev/null', make: ['ln', '-s', '/dev/null'], expected: {exitCode: 0, stderr: ''}},
    {kind: 'a pipe', make: ['mkfifo'], expected: {exitCode: 1}},
    {kind: 'a device', make: ['ln', '-s', '/dev/zero'], expected: {exitCode: 1}},
  ])(
    'a log path that is $kind ends at once, with -f too',
    async ({kind, make: [program = '', ...args], expected}) => {
      const name = `instead-of-${kind.replaceAll(/\W/g, '')}`;
      const pod = await aPod(name);
      const id = await pod.run('main', 0, 'echo text');
      await until(
        async () => (await containerState(runtime.connection, id)) === 'CONTAINER_EXITED',
        () => 'the end of the container',
      );
      rmSync(pod.log('main-0.log'));
      execFileSync(program, [...args, pod.log('main-0.log')]);
      for (const flags of [[], ['-f'], ['--tail', '1']])
        expect(await runtime.kcri(['logs', ...flags, `${name}/main`])).toMatchObject({
          ...expected,
          stdout: '',
        });
    },
  );

  test('-f ends with the container; --follow-restarts continues with the next attempt', async () => {
    const pod = await aPod('restarted');
    await pod.run('main', 0, 'echo first; exit 3');
    expect(await runtime.kcri(['logs', '-f', 'main'])).toEqual({stdout: 'first\n', stderr: '', exitCode: 0});
    const following = runtime.start(['logs', '--follow-restarts', 'main']);
    await following.waitForOutput(/waiting for its next attempt/);
    await pod.run('main', 1, 'echo second; exit 4');
    await following.waitForOutput(/^second$/m);
    await runtime.connection.runtime.stopPodSandbox({podSandboxId: pod.podSandboxId});
    expect(await following.exited).toMatchObject({
      stdout: 'first\nsecond\n',
      stderr: expect.stringMatching(
        /^kcri: main exited with code 3 \(Error\); waiting for its next attempt\nkcri: main was restarted: attempt 1\n/,
      ) as string,
      exitCode: 0,
    });
    const file = join(dir, 'restarted', '0.log');
    writeFileSync(file, await readFile(pod.log('main-0.log')));
    expect((await runtime.kcri(['logs', '--previous', 'main'])).stdout).toBe('first\n');
  });

  test('the logs of a whole pod are sorted by time, with complete long lines', async () => {
    const pod = await aPod('several');
    const long = 40_000;
    await pod.run('first', 0, 'echo early');
    await pod.run('talker', 0, `sleep 0.2; head -c ${long} /dev/zero | tr '\\0' x; echo; echo late >&2`);
    const following = runtime.start(['logs', '-f', '--pod', 'several']);
    await following.waitForOutput(/^talker \| late$/m);
    // The runtime reads both pipes independently, so it may log the end of the first line after the second line.
    await following.waitForOutput(/x$/m);
    following.kill('SIGINT');
    const result = await following.exited;
    expect(result.stdout).toBe(`first  | early\ntalker | ${'x'.repeat(long)}\n`);
    expect(result.stderr).toContain('talker | late\n');
    expect(result.exitCode).toBe(0);
    expect((await runtime.kcri(['logs', '--tail', '1', '-s', 'stdout', 'talker'])).stdout).toBe(
      `${'x'.repeat(long)}\n`,
    );
  });
});
