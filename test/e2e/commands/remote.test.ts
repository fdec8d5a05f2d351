import {once} from 'node:events';
import {connect} from 'node:net';
import {hostname} from 'node:os';
import {afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import type {KcriOptions, KcriProcess, KcriResult} from '../harness/kcri-process.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {runPod, type RunningPod} from '../harness/run-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {commandLinesBelow, startSshServer, type SshServer} from '../harness/ssh-server.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const PORT = 8080;
const COUNTER = 'i=0; while true; do echo line $i; i=$((i+1)); sleep 0.2; done';
/** Line of a shell after which the key of `node-new` is unknown again. */
const FORGET_HOST_KEYS = 'rm -f $(dirname $TMPDIR)/no_known_hosts';
const SERVER = `nc -ll -p ${PORT} -e echo hello from the pod`;

describe.each(newestRuntime)('remote nodes through sshd: $name', (which) => {
  let runtime: TestRuntime;
  let ssh: SshServer;
  let socket: string;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    socket = runtime.endpoint.replace('unix://', '');
    ssh = await startSshServer(socket);
    const containers = [
      aContainer('counter', {command: shellCommand(COUNTER)}),
      aContainer('server', {command: shellCommand(SERVER)}),
    ];
    const {exitCode, stderr} = await runtime.kcri(['sync', '-'], {input: aManifest('web', {containers})});
    expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  });
  afterAll(async () => {
    await runtime.kcri(['delete', 'web']);
    await ssh[Symbol.asyncDispose]();
    await runtime.stop();
  });
  afterEach(async () => {
    await until(
      () => ssh.leftovers().length === 0,
      () => `the end of: ${ssh.leftovers().join('\n')}`,
    );
  });

  const start = (node: string, args: readonly string[], options: KcriOptions = {}): KcriProcess => {
    const env = {...ssh.env, CONTAINER_RUNTIME_ENDPOINT: `ssh://${node}${socket}`, ...options.env};
    return runtime.start(args, {...options, env});
  };
  const kcri = async (args: readonly string[], options?: KcriOptions): Promise<KcriResult> =>
    await start('node-a', args, options).exited;

  /** Runs a pod of no manager, which is removed at the end of the test. */
  async function runBarePod(): Promise<RunningPod> {
    const pod = await runPod(runtime.connection, {name: 'bare'});
    onTestFinished(async () => {
      await runtime.connection.runtime.stopPodSandbox({podSandboxId: pod.podSandboxId});
      await runtime.connection.runtime.removePodSandbox({podSandboxId: pod.podSandboxId});
    });
    return pod;
  }

  test('lists, inspects and streams work as on the node', async () => {
    expect((await kcri(['ps', '-q', '--no-trunc'])).stdout).toBe(
      await runtime.output('ps', '-q', '--no-trunc'),
    );
    expect((await kcri(['inspect', 'web/counter', '-o', 'jsonpath={.status.state}'])).stdout).toContain(
      'CONTAINER_RUNNING',
    );
    const command = ['sh', '-c', 'cat; echo out; echo err >&2; exit 7'];
    expect(await kcri(['exec', '-i', 'web/counter', ...command], {input: 'in\n'})).toEqual({
      stdout: 'in\nout\n',
      stderr: 'err\n',
      exitCode: 7,
    });
    expect(await kcri(['exec', '--sync', 'web/counter', 'echo', 'sync'])).toEqual({
      stdout: 'sync\n',
      stderr: '',
      exitCode: 0,
    });
    const {stdout} = await kcri(['exec', '--transport=websocket', 'web/counter', 'echo', 'websocket']);
    expect(stdout).toBe('websocket\n');
  });

  test('without a path, the well-known socket of the node is found', async () => {
    const env = {CONTAINER_RUNTIME_ENDPOINT: 'ssh://node-a'};
    expect(await kcri(['pods', '-o', 'name'], {env})).toEqual({
      stdout: expect.stringContaining('web') as string,
      stderr: '',
      exitCode: 0,
    });
  });

  test('logs are read and followed, and Ctrl-C ends them', async () => {
    const {stdout} = await kcri(['logs', '--limit-bytes=14', 'web/counter']);
    expect(stdout).toBe('line 0\nline 1\n');
    const following = start('node-a', ['logs', '-f', '--tail=1', 'web/counter']);
    const [, first = ''] = await following.waitForOutput(/^line (\d+)$/m);
    await following.waitForOutput(new RegExp(`^line ${Number(first) + 3}$`, 'm'));
    following.kill('SIGINT');
    expect(await following.exited).toMatchObject({stderr: '', exitCode: 0});
  });

  test('attach and port-forward work, and SIGTERM ends them', async () => {
    const attached = start('node-a', ['attach', 'web/counter']);
    await attached.waitForOutput(/^line \d+$/m);
    attached.kill('SIGTERM');
    expect((await attached.exited).exitCode).toBe(143);
    const forwarding = start('node-a', ['port-forward', 'web', `:${PORT}`]);
    const [, port = ''] = await forwarding.waitForOutput(/^Forwarding from 127\.0\.0\.1:(\d+)/m);
    for (let round = 0; round < 3; round += 1) {
      const client = connect(Number(port), '127.0.0.1').setEncoding('utf8');
      const [answer] = (await once(client, 'data')) as [string];
      expect(answer).toBe('hello from the pod\n');
      client.destroy();
    }
    forwarding.kill('SIGINT');
    expect((await forwarding.exited).exitCode).toBe(0);
  });

  test.each([
    ['logs', ['-f', 'web/counter'], /line \d+/],
    ['exec', ['web/counter', 'sh', '-c', 'echo started; sleep 1000'], /started/],
    ['port-forward', ['web', `:${PORT}`], /Forwarding from/],
    ['stats', ['--watch'], /CONTAINER/],
  ] as const)('%s ends with an error when the connection is lost', async (command, args, started) => {
    const running = start('node-a', [command, ...args]);
    await running.waitForOutput(started);
    ssh.killConnections();
    const {stderr, exitCode} = await running.exited;
    expect(stderr).toMatch(/^kcri: (.*: )?node "node-a": the ssh connection was lost/m);
    expect(exitCode).toBe(1);
  });

  test('no ssh process outlives a command that is killed', async () => {
    const directory = await temporaryDirectory();
    const running = start('node-a', ['logs', '-f', 'web/counter'], {env: {TMPDIR: directory}});
    await running.waitForOutput(/line \d+/);
    expect(commandLinesBelow(directory)).not.toEqual([]);
    running.kill('SIGKILL');
    await running.exited;
    await until(() => commandLinesBelow(directory).length === 0);
  });

  test('pods are shown and waited for as the runtime of the node knows them', async () => {
    const {stdout} = await kcri(['get', 'pods', '-o', 'jsonpath={.items[*].spec.nodeName}']);
    expect(stdout.trim()).toBe('node-a');
    expect((await kcri(['describe', 'web'])).stdout).toMatch(/^Name: +web$[\s\S]*^ +counter:$/m);
    expect(await kcri(['wait', 'web/counter', '--for=log=^line 2$'])).toEqual({
      stdout: 'line 2\n',
      stderr: '',
      exitCode: 0,
    });
    expect((await kcri(['generate', 'web'])).stdout).toMatch(/^ {2}name: web$/m);
    const {stderr, exitCode} = await kcri(['tree']);
    expect(stderr).toContain('"tree" works only on this machine');
    expect(exitCode).toBe(1);
  });

  test('restart replaces a container of no manager on the node', async () => {
    const {containerId} = await runBarePod();
    const {stdout, stderr, exitCode} = await kcri(['restart', 'bare/main', '--timeout=0', '-q']);
    expect([stderr, exitCode]).toEqual(['', 0]);
    expect(stdout.trim()).not.toBe(containerId);
    expect((await kcri(['ps', '-q', '--no-trunc', '--pod=bare'])).stdout).toBe(stdout);
  });

  test('top prints several nodes with their names, and reports one that is down', async () => {
    const nodes = ['node-a', 'node-down', 'node-b'].flatMap((node) => ['-r', `ssh://${node}${socket}`]);
    const args = ['top', ...nodes, '-r', runtime.endpoint, '-o', 'json'];
    const {stdout, stderr, exitCode} = await kcri(args);
    const {pods} = JSON.parse(stdout) as {pods: {node: string; manager: string}[]};
    expect(pods.map(({node, manager}) => [node, manager])).toEqual([
      ['node-a', 'kubelet'],
      ['node-b', 'kubelet'],
      [hostname(), 'kcri'],
    ]);
    expect(stderr).toMatch(/^kcri: cannot connect to "node-down" through ssh: .*Connection refused$/m);
    expect(exitCode).toBe(1);
  });

  test.each(['SIGHUP', 'SIGTERM', 'SIGINT'] as const)(
    '%s leaves no ssh process and no directory',
    async (signal) => {
      const running = start('node-a', ['exec', 'web/counter', 'sh', '-c', 'echo started; sleep 1000']);
      await running.waitForOutput(/started/);
      expect(ssh.leftovers()).not.toEqual([]);
      running.kill(signal);
      await running.exited;
      await until(() => ssh.leftovers().length === 0);
    },
  );

  test('several nodes are listed, and one without sshd does not hide them', async () => {
    const endpoints = ['node-a', 'node-down', 'node-b'].map((node) => `ssh://${node}${socket}`);
    const flags = [...endpoints, runtime.endpoint].flatMap((endpoint) => ['-r', endpoint]);
    const {stdout, stderr, exitCode} = await kcri([...flags, 'pods', '-o', 'json']);
    const {items} = JSON.parse(stdout) as {items: {node: string}[]};
    expect(items.map(({node}) => node).slice(0, 2)).toEqual(['node-a', 'node-b']);
    expect(items).toHaveLength(3);
    expect(stderr).toMatch(/^kcri: cannot connect to "node-down" through ssh: .*Connection refused$/m);
    expect(exitCode).toBe(1);
  });

  test.each([
    ['node-new', '', 'Host key verification failed.'],
    ['node-strict', '', 'sshd does not forward connections to it'],
    ['node-a', '/nonexistent.sock', 'cannot connect to /nonexistent.sock: no such file or directory'],
  ])('%s%s fails with the reason', async (node, path, reason) => {
    const endpoint = `ssh://${node}${path === '' ? socket : path}`;
    const {stderr, exitCode} = await kcri(['-r', endpoint, 'ps']);
    expect(stderr).toContain(reason);
    expect(exitCode).toBe(1);
  });

  /** Opens a terminal whose shell knows kcri as `K`. */
  const atTerminal = (columns: number, rows: number): TmuxTerminal => {
    const terminal = new TmuxTerminal(columns, rows, {
      ...ssh.env,
      CONTAINER_RUNTIME_ENDPOINT: `ssh://node-new${socket}`,
      KCRI_ROOT_DIR: runtime.rootDir,
      K: KCRI_COMMAND.join(' '),
      LANG: 'C.UTF-8',
    });
    onTestFinished(() => {
      terminal[Symbol.dispose]();
    });
    return terminal;
  };

  test('on a terminal, ssh asks for the host key, and a shell works as on the node', async () => {
    const terminal = atTerminal(120, 24);
    terminal.typeLine(`${FORGET_HOST_KEYS}; $K exec -it web/counter sh`);
    await terminal.waitForScreen(/Are you sure you want to continue connecting/);
    terminal.typeLine('yes');
    await terminal.waitForScreen(/# *$/m);
    terminal.typeLine('stty size');
    await terminal.waitForScreen(/^24 120$/m);
    terminal.resize(100, 30);
    // The size arrives a moment later.
    terminal.typeLine('until stty size | grep "30 100"; do sleep 0.1; done');
    await terminal.waitForScreen(/^30 100$/m);
    terminal.typeLine('exit 5');
    // What is typed before the session has ended belongs to it.
    await terminal.waitForScreen(/exit 5\n\$ *$/m);
    terminal.typeLine('echo "code $?"');
    await terminal.waitForScreen(/code 5$/m);
    terminal.typeLine('$K logs -f --tail=1 web/counter');
    await terminal.waitForScreen(/^line \d+$/m);
    // Lines may follow until it ends.
    await terminal.pressUntilScreen('C-c', /\$$/);
    terminal.typeLine('echo "logs $?"');
    await terminal.waitForScreen(/logs 0$/m);
    terminal.typeLine("$K exec web/counter sh -c 'echo started; sleep 1000'");
    await terminal.waitForScreen(/^started$/m);
    ssh.killConnections();
    await terminal.waitForScreen(/^kcri: node "node-new": the ssh connection was lost/m);
  });

  test('the full screen of several nodes acts on the node of a row, and reconnects', async () => {
    await runBarePod();
    const terminal = atTerminal(100, 30);
    const nodes = ['node-a', 'node-b', 'node-down'].map((node) => `-r ssh://${node}${socket}`);
    terminal.typeLine(`$K top ${nodes.join(' ')} --seconds=1`);
    await terminal.waitForScreen(/^default\/web +node-a [\s\S]*^default\/web +node-b /m);
    await terminal.waitForScreen(/^ cannot connect to "node-down" through ssh: /m);
    expect(terminal.screen).toMatch(/^ kcri top {3}CPU .* {2}2 of 3 nodes$/m);
    terminal.pressKeys('/');
    terminal.pressKeys('-l', 'node-b');
    terminal.pressKeys('Enter', 'N');
    await terminal.waitForScreen(/^NAME▲ .*\ndefault\/web +node-b .*\n ├ counter +node-b /m);
    terminal.pressKeys('Down', 'l');
    await terminal.waitForScreen(/^ Logs {2}default\/web\/counter on node-b [\s\S]*^line \d+$/m);
    terminal.pressKeys('q');
    await terminal.waitForScreen(/^ ├ counter /m);
    terminal.pressKeys('s');
    await terminal.waitForScreen(/^.*# *$/m);
    terminal.typeLine('exit');
    await terminal.waitForScreen(/^ ├ counter /m);
    ssh.killConnections();
    await terminal.waitForScreen(
      /^ node-a, node-b, node-down failed: node "node-a": the ssh connection was lost/m,
    );
    expect(terminal.screen).toMatch(/^ ├ counter +node-b /m);
    await terminal.waitForScreen(/^ cannot connect to "node-down" through ssh: /m);
    terminal.pressKeys('G', 'x');
    await terminal.waitForScreen(/Delete container .*\/bare\/main on node-b\? \(y\/n\)/);
    terminal.pressKeys('n', 'k', 'x');
    await terminal.waitForScreen(/Delete pod .*\/bare on node-b\? \(y\/n\)/);
    terminal.pressKeys('y');
    await terminal.waitForScreen(/bare on node-b deleted/);
    expect(await runtime.output('pods', '-o', 'name')).not.toContain('bare');
    await terminal.pressUntil('C-c', () => terminal.describe('#{alternate_on}') === '0');
  });

  test('a single remote node is shown after ssh has asked its questions', async () => {
    const terminal = atTerminal(60, 20);
    terminal.typeLine(`${FORGET_HOST_KEYS}; $K top`);
    await terminal.waitForScreen(/Are you sure you want to continue connecting/);
    terminal.typeLine('yes');
    await terminal.waitForScreen(/^ kcri top [\s\S]*^default\/web +2\/2 +Running/m);
    terminal.pressKeys('C-z');
    await terminal.waitForScreen(/Stopped/);
    terminal.typeLine('fg');
    await terminal.waitForScreen(/^ kcri top [\s\S]*^default\/web +2\/2 +Running/m);
    terminal.pressKeys('l');
    await terminal.waitForScreen(/^ Logs {2}default\/web [\s\S]*^counter \| line \d+$/m);
    terminal.pressKeys('q');
    await terminal.waitForScreen(/^default\/web +2\/2 +Running/m);
    terminal.pressKeys('q');
    await until(() => terminal.describe('#{alternate_on}') === '0');
  });
});
