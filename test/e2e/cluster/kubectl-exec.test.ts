import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Node} from '../../../src/api/types/v1-node.js';
import {omit} from '../../../src/base/omit.js';
import {startJoinedNode, type JoinedNode} from '../harness/joined-node.js';
import type {KubectlResult} from '../harness/kubectl.js';
import {aContainer, IMAGE, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {TmuxTerminal} from '../harness/tmux-terminal.js';

const NODE = 'entered';
const MIB = 1024 * 1024;
const WEB = 'mkdir /www; echo page >/www/x; httpd -p 8080 -h /www; trap "exit 0" TERM; sleep 3600 & wait';

/** Protocols that kubectl uses. The node accepts both, and the API server passes them on. */
const PROTOCOLS = [
  {protocol: 'WebSocket', env: {}, prefix: 'Internal error occurred: Internal error occurred: '},
  {
    protocol: 'SPDY',
    env: {KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false'},
    prefix: 'Internal error occurred: ',
  },
];

describe.each(newestRuntime)('kubectl enters containers: $name', (which) => {
  let cluster: JoinedNode;

  beforeAll(async () => {
    cluster = await startJoinedNode(which, NODE);
    cluster.createPod('web', {containers: [aContainer('main', {command: shellCommand(WEB)})]});
    await cluster.untilReady('web');
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  describe.each(PROTOCOLS)('over $protocol', ({protocol, env, prefix}) => {
    const exec = async (command: readonly string[], input = ''): Promise<KubectlResult> =>
      await cluster.kubectl.run(['exec', '-i', 'web', '--', ...command], input, env);

    test('exec returns output, errors and the exit code', async () => {
      expect(await exec(shellCommand('echo out; echo err >&2; exit 7'))).toEqual({
        stdout: 'out\n',
        stderr: 'err\ncommand terminated with exit code 7\n',
        exitCode: 7,
      });
    });

    test('exec passes standard input', async () => {
      expect(await exec(['cat'], 'fed')).toMatchObject({stdout: 'fed', exitCode: 0});
    });

    test('exec of a command that does not exist fails with the reason of the runtime', async () => {
      const {stderr, exitCode} = await exec(['nosuch']);
      expect(stderr).toMatch(
        new RegExp(
          `^error: ${prefix}error executing command in container: .*"nosuch": executable file not found`,
        ),
      );
      expect(exitCode).toBe(1);
    });

    test('exec returns every byte of a large output', async () => {
      const {stdout} = await exec(shellCommand(`head -c ${20 * MIB} /dev/zero`));
      expect(stdout.length).toBe(20 * MIB);
    });

    test('port-forward connects to the pod, more than once', async () => {
      const forwarder = cluster.kubectl.start(['port-forward', 'pod/web', ':8080'], env);
      const [, port = ''] = await forwarder.waitForOutput(/127\.0\.0\.1:(\d+) -> 8080/);
      const get = async (path: string): Promise<Response> =>
        await fetch(`http://127.0.0.1:${port}${path}`, {headers: {connection: 'close'}});
      expect(await (await get('/x')).text()).toBe('page\n');
      expect((await get('/nosuch')).status).toBe(404);
      forwarder.kill('SIGTERM');
      await forwarder.exited;
    });

    test('cp copies to a container and back', async () => {
      const {rootDir} = cluster.kubelet.podTestbed.runtime;
      const [there, back] = [join(rootDir, `there-${protocol}`), join(rootDir, `back-${protocol}`)];
      const content = 'some data '.repeat(MIB / 10);
      await writeFile(there, content);
      const cp = async (from: string, to: string): Promise<void> => {
        expect(await cluster.kubectl.run(['cp', from, to], '', env)).toMatchObject({exitCode: 0});
      };
      await cp(there, 'web:/tmp/copied');
      await cp('web:/tmp/copied', back);
      expect(await readFile(back, 'utf8')).toBe(content);
    });
  });

  test('exec uses SPDY if the node does not accept WebSockets', async () => {
    const {api, kubectl} = cluster;
    const path = `/api/v1/nodes/${NODE}`;
    api.inject((request) => request.method === 'PATCH' && request.path === `${path}/status`, {code: 500});
    const node = api.storage.get(path)!;
    api.storage.put(path, {
      ...node,
      status: omit(node['status'] as Node['status'] & object, 'declaredFeatures'),
    });
    const {stderr} = await kubectl.run(['exec', 'web', '--', 'nosuch']);
    api.storage.put(path, node);
    api.clearFaults();
    expect(stderr).toMatch(/^error: Internal error occurred: error executing command in container: /);
  });

  test('exec -it has a terminal with the size of the window', async () => {
    const {program, env} = cluster.kubectl;
    using terminal = new TmuxTerminal(93, 27, env);
    terminal.typeLine(`${program} exec -it web -- sh`);
    await terminal.waitForScreen(/^\/ #$/m);
    terminal.typeLine('stty size');
    await terminal.waitForScreen(/^27 93$/m);
    terminal.resize(80, 24);
    terminal.typeLine('until stty size | grep "24 80"; do sleep 0.05; done');
    await terminal.waitForScreen(/^24 80$/m);
    terminal.typeLine('exit 3');
    await terminal.waitForScreen(/exit code 3/);
    terminal.typeLine('echo code=$?');
    await terminal.waitForScreen(/^code=3$/m);
  });

  test('attach passes standard input and ends with the container', async () => {
    const command = shellCommand('while read line; do echo got $line; done; echo eof');
    cluster.createPod('reader', {
      restartPolicy: 'Never',
      containers: [aContainer('main', {command, stdin: true, stdinOnce: true})],
    });
    await cluster.untilReady('reader');
    const {stdout, exitCode} = await cluster.kubectl.run(['attach', '-i', 'reader'], 'hello\n');
    expect({stdout, exitCode}).toEqual({stdout: 'got hello\neof\n', exitCode: 0});
    await cluster.untilPhase('reader', 'Succeeded');
  });

  test('run -i --rm runs a command and deletes its pod', async () => {
    const overrides = JSON.stringify({spec: {nodeName: NODE, terminationGracePeriodSeconds: 2}});
    const flags = ['-i', '--rm', '--restart=Never', `--image=${IMAGE}`, `--overrides=${overrides}`];
    const {stdout, exitCode} = await cluster.kubectl.run(['run', 'once', ...flags, '--', 'cat'], 'fed\n');
    expect(stdout).toMatch(/^fed\npod "once" deleted/);
    expect(exitCode).toBe(0);
    expect(cluster.api.pod('once')).toBeUndefined();
  });

  test('debug starts an ephemeral container beside the target', async () => {
    const flags = ['-i', `--image=${IMAGE}`, '--container=debugger', '--target=main', '--profile=general'];
    // Output before kubectl has attached would be lost, so the command waits for its input.
    const command = shellCommand('read line; ps');
    const {stdout, exitCode} = await cluster.kubectl.run(
      ['debug', 'web', ...flags, '--', ...command],
      'go\n',
    );
    expect(stdout).toContain('httpd -p 8080');
    expect(exitCode).toBe(0);
  });
});
