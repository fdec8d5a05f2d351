import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri, type RunOptions, type RunResult} from '../../cli/run-kcri.js';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint, type FakeSsh} from '../../fakes/ssh/install-fake-ssh.js';

const CONTAINERS = {containers: [aContainer({name: 'main'})]};

async function run(ssh: FakeSsh, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const result = await runKcri(args, {...options, env: {...ssh.env, ...options.env}});
  expect(await ssh.leftovers()).toEqual([]);
  return result;
}

test('a command on a remote node prints what it prints on this machine', async () => {
  await using runtime = await FakeRuntime.start(CONTAINERS);
  const ssh = await installFakeSsh();
  const local = await runKcri(['ps'], {endpoint: runtime.endpoint});
  const remote = await run(ssh, ['-r', remoteEndpoint(runtime), 'ps']);
  expect(remote).toEqual(local);
});

test('the endpoint of a remote node may come from the environment or the config file', async () => {
  await using runtime = await FakeRuntime.start(CONTAINERS);
  const ssh = await installFakeSsh();
  const endpoint = remoteEndpoint(runtime);
  const config = join(await temporaryDirectory(), 'crictl.yaml');
  await writeFile(config, `runtime-endpoint: ${endpoint}\n`);
  const expected = {stderr: '', exitCode: 0};
  expect(await run(ssh, ['ps', '-q'], {endpoint})).toMatchObject(expected);
  expect(await run(ssh, ['--config', config, 'ps', '-q'])).toMatchObject(expected);
});

test('without a path, the first well-known socket of the node that answers is used', async () => {
  await using runtime = await FakeRuntime.start(CONTAINERS);
  const ssh = await installFakeSsh();
  const wellKnownEndpoints = ['unix:///nonexistent/a.sock', runtime.endpoint];
  const {stdout, exitCode} = await run(ssh, ['-r', 'ssh://node', 'ps'], {wellKnownEndpoints});
  expect([stdout, exitCode]).toEqual([expect.stringContaining('main'), 0]);
});

test('a node without a runtime is reported with the sockets that were looked for', async () => {
  const ssh = await installFakeSsh();
  const wellKnownEndpoints = ['unix:///nonexistent/a.sock'];
  const {stderr, exitCode} = await run(ssh, ['-r', 'ssh://node', 'ps'], {wellKnownEndpoints});
  expect([stderr, exitCode]).toEqual([
    expect.stringMatching(
      /^kcri: no container runtime found on node "node"; looked for \/nonexistent\/a\.sock\nhint: /,
    ),
    1,
  ]);
});

test('kcri makes one connection, and forwards only private sockets', async () => {
  await using runtime = await FakeRuntime.start(CONTAINERS);
  const ssh = await installFakeSsh();
  await run(ssh, ['-r', remoteEndpoint(runtime), 'images']);
  const calls = ssh.calls();
  expect(calls.map((args) => args.includes('ControlMaster=yes'))).toEqual([true, false]);
  expect(calls[0]?.slice(-5)).toEqual(['-l', 'root', '--', 'node', 'cat']);
  expect(calls.flat().filter((_, at) => calls.flat()[at - 1] === '-L')).toEqual([
    expect.stringMatching(/^\/.*\/kcri-ssh-\w+\/0:\//),
  ]);
});

test.each([
  [
    'refusing',
    /^kcri: cannot connect to "refusing" through ssh: ssh: connect to host .* Connection refused$/m,
  ],
  ['unknown-key', /^kcri: cannot connect to "unknown-key" through ssh: Host key verification failed\.$/m],
  [
    'no-login',
    /^kcri: cannot connect to "no-login" through ssh: This account is currently \[31mnot available\.$/m,
  ],
  ['silent', /^kcri: cannot connect to "silent" through ssh: no answer within 1s$/m],
])('a node that is %s is an error with the reason and a command to try', async (host, message) => {
  const ssh = await installFakeSsh();
  const {stdout, stderr, exitCode} = await run(ssh, ['-t', '1s', '-r', `ssh://root@${host}/x.sock`, 'ps']);
  expect(stderr).toMatch(message);
  expect(stderr).toContain(`\nhint: try "ssh root@${host} true"\n`);
  expect([stdout, exitCode]).toEqual(['', 1]);
});

test.each([
  [
    '/nonexistent/runtime.sock',
    'cannot connect to /nonexistent/runtime.sock: no such file or directory',
    'is the runtime running',
  ],
  ['/tmp', 'cannot connect to /tmp: connection refused', 'start the runtime on the node'],
])('the socket %s of a node is an error with the reason of the node', async (path, message, hint) => {
  const ssh = await installFakeSsh();
  const {stderr, exitCode} = await run(ssh, ['-r', `ssh://node${path}`, 'ps']);
  expect(stderr).toContain(message);
  expect(stderr).toContain(hint);
  expect(exitCode).toBe(1);
});

test('a node whose sshd does not forward sockets is an error that names the option of sshd', async () => {
  await using runtime = await FakeRuntime.start();
  const ssh = await installFakeSsh();
  const {stderr} = await run(ssh, ['-r', remoteEndpoint(runtime, 'no-forwarding'), 'ps']);
  expect(stderr).toContain('sshd does not forward connections to it');
  expect(stderr).toContain('AllowStreamLocalForwarding yes');
});

test('a missing ssh is an error with a hint', async () => {
  const {stderr, exitCode} = await runKcri(['-r', 'ssh://node', 'ps'], {env: {PATH: '/nonexistent'}});
  expect([stderr, exitCode]).toEqual([
    'kcri: the program "ssh" is not installed\nhint: install an OpenSSH client, such as the package openssh-client\n',
    1,
  ]);
});

test.each([
  ['sync', 'web.yaml'],
  ['delete', 'web'],
  ['plan', 'web.yaml'],
  ['tree'],
  ['cp', 'web:/x', '.'],
  ['kubelet'],
  ['runtime', 'up'],
  ['runtime', 'down'],
  ['get', 'events'],
  ['get', 'node'],
  ['checkpoint', 'web', '--export=/x'],
])('%s %s refuses a remote node instead of acting on this machine', async (...args) => {
  const ssh = await installFakeSsh();
  const {stdout, stderr, exitCode} = await run(ssh, ['-r', 'ssh://root@node', ...args]);
  expect(stderr).toMatch(
    /^kcri: ".*" works only on this machine, not on ssh:\/\/root@node\nhint: run "kcri .*" on that node/,
  );
  expect([stdout, exitCode, ssh.calls()]).toEqual(['', 1, []]);
});

test.each([[['options']], [['completion', 'bash']]])(
  'a command that uses no node ignores the endpoint: %j',
  async (args) => {
    const ssh = await installFakeSsh();
    const {exitCode} = await run(ssh, args, {endpoint: 'ssh://root@node'});
    expect([exitCode, ssh.calls()]).toEqual([0, []]);
  },
);

test('under the name crictl, an endpoint with ssh is the error of crictl', async () => {
  const ssh = await installFakeSsh();
  const {stderr, exitCode} = await run(ssh, ['-r', 'ssh://node', 'ps'], {env: {KCRI_COMPAT: 'crictl'}});
  expect(stderr).toContain('protocol \\"ssh\\" not supported');
  expect([exitCode, ssh.calls()]).toEqual([1, []]);
});

test('Ctrl-C ends a connection attempt and leaves nothing behind', async () => {
  const ssh = await installFakeSsh();
  const interrupt = new AbortController();
  const running = runKcri(['-r', 'ssh://silent/x.sock', 'ps'], {env: ssh.env, signal: interrupt.signal});
  await until(() => ssh.calls().length > 0);
  interrupt.abort(new Error('interrupted'));
  expect((await running).exitCode).toBe(1);
  expect(await ssh.leftovers()).toEqual([]);
});

test('the image endpoint must be on the same node', async () => {
  await using runtime = await FakeRuntime.start();
  const ssh = await installFakeSsh();
  const endpoint = remoteEndpoint(runtime);
  const images = async (imageEndpoint: string): Promise<RunResult> =>
    await run(ssh, ['-r', endpoint, '-i', imageEndpoint, 'images', '-q']);
  expect(await images(endpoint)).toMatchObject({stderr: '', exitCode: 0});
  for (const other of [runtime.endpoint, remoteEndpoint(runtime, 'root@other')])
    expect((await images(other)).stderr).toContain('is not on the node of the runtime');
});
