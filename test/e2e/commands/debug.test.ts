import {readdirSync} from 'node:fs';
import {hostname} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {startKubeletTestbed, type KubeletTestbed} from '../harness/kubelet-testbed.js';
import {runtimes} from '../harness/runtimes-under-test.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const IMAGE = 'busybox:1.36';
const WEB = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'web', labels: {app: 'web'}},
  spec: {
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'main',
        image: 'docker.io/library/busybox:1.36',
        imagePullPolicy: 'Never',
        command: ['sh', '-c', 'echo content >/tmp/file; exec sleep 3600'],
      },
    ],
  },
});

describe.each(runtimes)('debug beside a kubelet of kcri: $name', (which) => {
  let testbed: KubeletTestbed;
  const kcri = (...args: readonly string[]) => testbed.podTestbed.runtime.kcri(args);
  const containers = async (): Promise<readonly string[]> =>
    (await testbed.podTestbed.runtime.connection.runtime.listContainers()).containers.map(
      ({metadata, state}) => `${metadata?.name ?? ''} ${state}`,
    );
  const logs = (): readonly string[] => readdirSync(join(testbed.podTestbed.runtime.rootDir, 'kcri/run'));

  beforeAll(async () => {
    testbed = await startKubeletTestbed(which, 'node');
    await testbed.put('web', WEB);
    await testbed.start();
    await until(async () => (await containers()).includes('main CONTAINER_RUNNING'));
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
  });

  test('a container sees the processes, files and network of its target, and is removed', async () => {
    const script = 'cat /proc/1/root/tmp/file; tr "\\0" " " </proc/1/cmdline; echo; hostname; id -u; exit 7';
    const {stdout, stderr, exitCode} = await kcri(
      'debug',
      'web-node',
      `--image=${IMAGE}`,
      '--',
      'sh',
      '-c',
      script,
    );
    expect({stdout, exitCode}).toEqual({stdout: 'content\nsleep 3600 \nweb-node\n0\n', exitCode: 7});
    expect(stderr).toMatch(
      /^kcri: note: debug container "debugger-\w{5}" in pod "default\/web-node"; the files of "main" are in \/proc\/1\/root\n$/,
    );
    expect({containers: await containers(), logs: logs()}).toEqual({
      containers: ['main CONTAINER_RUNNING'],
      logs: [],
    });
    const sysadmin = ['--profile=sysadmin', `--image=${IMAGE}`, '--', 'grep', 'CapEff', '/proc/self/status'];
    const privileged = await kcri('debug', 'web-node', ...sysadmin);
    expect(privileged.stdout).toMatch(/^CapEff:\t0*[1-9a-f][0-9a-f]*ff\n$/);
    expect(privileged.stderr).toContain('the pod does not permit privileged containers');
  });

  test('the kubelet leaves a session on a terminal alone, and its pod ready', async () => {
    const {runtime} = testbed.podTestbed;
    using terminal = new TmuxTerminal(80, 24, {
      CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint,
      KCRI_ROOT_DIR: runtime.rootDir,
      K: KCRI_COMMAND.join(' '),
    });
    terminal.typeLine(`$K debug -it web-node -c tool --image=${IMAGE} -- sh`);
    await terminal.waitForScreen(/# *$/m);
    terminal.typeLine('stty size');
    await terminal.waitForScreen(/^24 80$/m);
    // More than two rounds of housekeeping, which terminates unknown containers.
    terminal.typeLine('sleep 6; echo still "here"');
    await terminal.waitForScreen(/^still here$/m);
    expect((await containers()).toSorted()).toEqual(['main CONTAINER_RUNNING', 'tool CONTAINER_RUNNING']);
    const {stdout} = await kcri('get', 'pods', '--no-headers');
    expect(stdout).toMatch(/^web-node +1\/1 +Running +0 /);
    terminal.typeLine('exit 5');
    await terminal.waitForScreen(/exit 5\s+\$ *$/);
    terminal.typeLine('echo "code $?"');
    await terminal.waitForScreen(/^(\$ )?code 5$/m);
    expect(await containers()).toEqual(['main CONTAINER_RUNNING']);
  });

  test('a copy runs beside the original, which the kubelet ignores', async () => {
    const {logsDir, cgroupRoot} = testbed.podTestbed;
    const flags = ['--copy-to=copy', `--pod-logs-dir=${logsDir}`, `--cgroup-root=${cgroupRoot}`];
    const made = await kcri('debug', 'web-node', ...flags, '--', 'sleep', '1000');
    expect(made).toMatchObject({exitCode: 0, stderr: ''});
    const listed = await kcri('exec', 'copy', 'sh', '-c', 'ps | grep -c "sleep 1000"');
    expect(Number(listed.stdout)).toBeGreaterThanOrEqual(1);
    expect((await kcri('delete', 'copy')).stdout).toBe('pod "default/copy" deleted\n');
    expect(await containers()).toEqual(['main CONTAINER_RUNNING']);
  });

  test('--node runs a program of the node in its namespaces', async () => {
    const script = 'hostname; test -d /proc/$$ && test -e /etc/passwd && echo root';
    const {stdout, stderr, exitCode} = await kcri('debug', '--node', '--', 'sh', '-c', script);
    expect({stdout, stderr, exitCode}).toEqual({stdout: `${hostname()}\nroot\n`, stderr: '', exitCode: 0});
    const image = await kcri('debug', '--node', `--image=${IMAGE}`, '--', 'ls', '/host/etc/hostname');
    expect(image.stdout).toBe('/host/etc/hostname\n');
    expect({containers: await containers(), logs: logs()}).toEqual({
      containers: ['main CONTAINER_RUNNING'],
      logs: [],
    });
  });

  test('a pod ends with its debug container, and nothing is left', async () => {
    const debugging = testbed.podTestbed.runtime.start([
      'debug',
      'web-node',
      `--image=${IMAGE}`,
      '--',
      'sh',
      '-c',
      'echo in; sleep 3600',
    ]);
    await debugging.waitForOutput(/^in$/m);
    await testbed.remove('web');
    expect((await debugging.exited).exitCode).not.toBe(0);
    expect(await containers()).toEqual([]);
  });
});
