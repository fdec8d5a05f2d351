import {writeFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../../fakes/ssh/install-fake-ssh.js';
import {aManifest, createTestbed} from '../command-testbed.js';

/** Returns a function that runs kcri on a remote node with the runtime of a test bed, which has a pod of kcri. */
async function startNode() {
  const testbed = await createTestbed();
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: aManifest()});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  const ssh = await installFakeSsh();
  const kcri = async (args: readonly string[], options: RunOptions = {}): Promise<RunResult> => {
    const endpoint = remoteEndpoint(testbed.runtime);
    const result = await runKcri(['--root-dir', testbed.rootDir, '-r', endpoint, ...args], {
      ...options,
      env: {...ssh.env, ...options.env},
    });
    expect(await ssh.leftovers()).toEqual([]);
    return result;
  };
  return {testbed, ssh, kcri};
}

test('pods of a remote node are those of its runtime, whatever is recorded on this machine', async () => {
  const {testbed, kcri} = await startNode();
  const {stdout, stderr, exitCode} = await kcri(['get', 'pods', '-o', 'json']);
  expect([stderr, exitCode]).toEqual(['', 0]);
  const {items} = JSON.parse(stdout) as {
    items: {metadata: object; spec: {nodeName: string}; status: {hostIP?: string}}[];
  };
  expect(items).toMatchObject([
    {metadata: {name: 'web', annotations: {'kcri/partial': 'true'}}, spec: {nodeName: 'node'}},
  ]);
  expect(items[0]?.status.hostIP).toBeUndefined();
  expect((await kcri(['get', 'pods'])).stdout).toMatch(/^web +1\/1 +Running.* kubelet$/m);
  expect((await testbed.run(['get', 'pods'])).stdout).not.toContain('kubelet');
});

test('the kubelet of this machine is not asked about pods of a remote node', async () => {
  const {kcri} = await startNode();
  let asked = 0;
  const {createServer} = await import('node:http');
  const server = createServer((_, response) => {
    asked += 1;
    response.end('{"items": []}');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await until(() => server.listening);
  const {port} = server.address() as {port: number};
  const localKubelet = {readOnlyPort: port, port, credentials: []};
  for (const args of [
    ['get', 'pods'],
    ['describe', 'web'],
    ['logs', 'web'],
    ['exec', '--sync', 'web', 'true'],
  ])
    await kcri(args, {localKubelet});
  expect(asked).toBe(0);
});

test('describe shows what the runtime knows, with the last log lines of the node', async () => {
  const ssh = await installFakeSsh();
  const logPath = `${dirname(ssh.env['TMPDIR'] ?? '')}/0.log`;
  await writeFile(logPath, '2026-11-20T14:00:00.000000000Z stdout F it failed\n');
  const sandbox = aSandbox();
  const container = aContainer({sandbox, name: 'main', state: 'CONTAINER_EXITED', exitCode: 3, logPath});
  await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [container]});
  const describe = async (host: string) =>
    await runKcri(['-r', remoteEndpoint(runtime, host), 'describe', 'web'], {env: ssh.env});
  const {stdout, exitCode} = await describe('node');
  expect(stdout).toMatch(/^Name: +web$/m);
  expect(stdout).toContain('it failed');
  expect(exitCode).toBe(0);
  // The log is read on the node, not on this machine.
  expect((await describe('no-sftp')).stdout).not.toContain('it failed');
});

test.each([
  ['get', 'pods'],
  ['get', 'pods', 'web'],
  ['describe', 'web'],
  ['top', '--once'],
])('%s %s fails with the reason if the runtime of the node is unavailable', async (...args) => {
  const {testbed, kcri} = await startNode();
  await testbed.runtime.stop();
  const {stdout, stderr, exitCode} = await kcri(args);
  expect(stderr).toMatch(/^kcri: .*cannot connect to .*(no such file or directory|connection refused)/);
  expect([stdout, exitCode]).toEqual(['', 1]);
});

test('wait and generate work on a remote node', async () => {
  const {testbed, kcri} = await startNode();
  expect(await kcri(['wait', 'web/main', '--for=condition=Ready'])).toMatchObject({
    stdout: 'container/web/main condition met\n',
    exitCode: 0,
  });
  const generated = await kcri(['generate', 'web']);
  expect(generated).toMatchObject({stdout: expect.stringMatching(/^ {2}name: web$/m) as string, exitCode: 0});
  // The record of this machine has the manifest as it was written.
  expect(generated.stdout).not.toBe((await testbed.run(['generate', 'web'])).stdout);
});

test('wait reads logs of the remote node', async () => {
  const {ssh} = await startNode();
  const path = `${dirname(ssh.env['TMPDIR'] ?? '')}/0.log`;
  await writeFile(path, '2026-11-20T14:00:00.000000000Z stdout F ready to go\n');
  const sandbox = aSandbox();
  const container = aContainer({sandbox, name: 'main', logPath: path});
  await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [container]});
  const args = ['-r', remoteEndpoint(runtime), 'wait', 'web/main', '--for=log=ready'];
  expect(await runKcri(args, {env: ssh.env})).toEqual({stdout: 'ready to go\n', stderr: '', exitCode: 0});
  const noSftp = ['-r', remoteEndpoint(runtime, 'no-sftp'), 'wait', 'web/main', '--for=log=ready'];
  expect((await runKcri(noSftp, {env: ssh.env})).stderr).toContain('cannot read files');
});

test('restart replaces a container of no manager on a remote node', async () => {
  const base = aSandbox();
  const sandbox = {...base, config: {...base.config, labels: {}}};
  const container = aContainer({sandbox, name: 'main'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [{...container, config: {...container.config, labels: {}}}],
  });
  const ssh = await installFakeSsh();
  const {stdout, stderr, exitCode} = await runKcri(
    ['-r', remoteEndpoint(runtime), 'restart', 'web/main', '--timeout=0'],
    {env: ssh.env},
  );
  expect([stderr, exitCode]).toEqual(['', 0]);
  expect(stdout).toMatch(/^container "default\/web\/main" restarted as /);
  expect(runtime.containers.map(({id}) => id)).not.toContain(container.id);
});

test('events of a remote node do not contain those recorded on this machine', async () => {
  const {testbed, kcri} = await startNode();
  const interrupt = new AbortController();
  const running = kcri(['events', '-o', 'table', '--since=1h'], {
    signal: interrupt.signal,
    onStdout: () => undefined,
  });
  await until(() => testbed.runtime.callsTo('GetContainerEvents').length > 0);
  // The recorded events are read at once.
  await new Promise((resolve) => setTimeout(resolve, 300));
  interrupt.abort(new Error('interrupted'));
  expect((await running).stdout).not.toContain('Normal');
});
