import {hostname} from 'node:os';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {runTop, ScreenTerminal} from '../../features/top/screen-terminal.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../../fakes/ssh/install-fake-ssh.js';
import {aManifest, createTestbed} from '../command-testbed.js';
import {realTimeClock} from '../../fakes/fake-clock.js';

/** A clock with short pauses between samples, but without shorter timeouts. */
const CLOCK = realTimeClock({sleepMs: (ms) => (ms > 2000 ? ms : 20)});

/** Starts a runtime with the pod `web` of no manager; it has the same name, UID and IDs on every node. */
async function startRuntime(containerName: string): Promise<FakeRuntime> {
  const base = aSandbox({uid: 'same-uid'});
  const sandbox = {...base, config: {...base.config, labels: {}}};
  const container = aContainer({sandbox, name: containerName});
  const runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [{...container, config: {...container.config, labels: {}}}],
  });
  onTestFinished(async () => {
    await runtime.stop();
  });
  return runtime;
}

/** Starts this machine with a pod of kcri, and the remote nodes `a` and `b`. */
async function startNodes() {
  const testbed = await createTestbed();
  const {exitCode, stderr} = await testbed.run(['sync', '-'], {stdin: aManifest({name: 'own'})});
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  const [a, b] = [await startRuntime('main-of-a'), await startRuntime('main-of-b')];
  const ssh = await installFakeSsh();
  const remote = ['-r', remoteEndpoint(a, 'a'), '-r', remoteEndpoint(b, 'b')];
  const local = ['-r', testbed.runtime.endpoint];
  const top = async (...args: readonly string[]) => {
    const result = await runKcri(['--root-dir', testbed.rootDir, 'top', ...args], {
      env: ssh.env,
      clock: CLOCK,
    });
    expect(await ssh.leftovers()).toEqual([]);
    return result;
  };
  return {testbed, a, b, ssh, remote, local, top};
}

/** Waits for a screen that matches. */
async function screen(terminal: ScreenTerminal, pattern: RegExp): Promise<void> {
  await until(
    () => pattern.test(terminal.screen),
    () => `${String(pattern)} on the screen:\n${terminal.screen}`,
  );
}

test('several nodes are shown in the order of the endpoints, each with its own pods', async () => {
  const {top, remote, local} = await startNodes();
  const {stdout, stderr, exitCode} = await top(...remote, ...local);
  expect([stderr, exitCode]).toEqual(['', 0]);
  const rows = stdout.split('\n\n')[0]!.trimEnd().split('\n');
  expect(rows.map((row) => row.split(/ +/).slice(0, 2))).toEqual([
    ['NODE', 'POD'],
    ['a', 'default/web'],
    ['a', 'main-of-a'],
    ['b', 'default/web'],
    ['b', 'main-of-b'],
    [hostname(), 'default/own'],
    [hostname(), 'main'],
  ]);
  expect(stdout).toMatch(new RegExp(`^\\d+s +${hostname()} {2}default/own/main {2}Normal {2}Started `, 'm'));
});

test('JSON, YAML and templates have the node of each pod and event', async () => {
  const {top, remote, local} = await startNodes();
  const {pods, events} = JSON.parse((await top(...remote, ...local, '-o', 'json')).stdout) as {
    pods: {node: string; name: string}[];
    events: {node: string}[];
  };
  expect(pods.map(({node, name}) => `${node}/${name}`)).toEqual(['a/web', 'b/web', `${hostname()}/own`]);
  expect(new Set(events.map(({node}) => node))).toEqual(new Set([hostname()]));
  expect((await top(...remote, '-o', 'yaml')).stdout).toMatch(/^ +node: b$/m);
  const {stdout} = await top(...remote, '-o', 'custom-columns=N:.node,P:.name');
  expect(stdout).toMatch(/^N +P\na +web\nb +web\n$/);
});

test('one remote node shows no node, and no pods and events of this machine', async () => {
  const {top, remote} = await startNodes();
  const {stdout, stderr, exitCode} = await top(...remote.slice(0, 2));
  expect([stderr, exitCode]).toEqual(['', 0]);
  expect(stdout).toMatch(/^POD +READY .*\ndefault\/web +1\/1 .*\n {2}main-of-a .*\n$/);
});

test('of several runtimes of this machine, each shows its own pods of kcri', async () => {
  const {testbed, b, top} = await startNodes();
  const {pods} = JSON.parse(
    (await top('-r', testbed.runtime.endpoint, '-r', b.endpoint, '-o', 'json')).stdout,
  ) as {pods: {node: string; name: string}[]};
  expect(pods.map(({node, name}) => [node, name])).toEqual([
    [testbed.runtime.endpoint, 'own'],
    [b.endpoint, 'web'],
  ]);
});

test('an unreachable node is reported and does not hide the others', async () => {
  const {top, remote, b} = await startNodes();
  await b.stop();
  const {stdout, stderr, exitCode} = await top('-r', 'ssh://refusing/x.sock', ...remote);
  expect(stdout).toMatch(/^a +default\/web /m);
  expect(stdout).not.toMatch(/^b /m);
  expect(stderr).toMatch(/^kcri: cannot connect to "refusing" through ssh: .*Connection refused$/m);
  expect(stderr).toMatch(/^kcri: node "b": .*cannot connect to /m);
  expect(stderr.match(/^kcri: /gm)).toHaveLength(2);
  expect(exitCode).toBe(1);
});

test.each([
  [['-r', 'ssh://refusing/x.sock'], /^kcri: cannot connect to "refusing" through ssh: /],
  [['-l', '!!'], /^kcri: invalid label selector/],
  [['--manager', 'x'], /^kcri: invalid --manager "x"/],
])('%j is an error before anything is shown', async (args, message) => {
  const {ssh, testbed} = await startNodes();
  const terminal = new ScreenTerminal(80, 24);
  const {exitCode, stderr} = await runTop(testbed, terminal, {env: ssh.env, args});
  expect(stderr).toMatch(message);
  expect([exitCode, terminal.screen]).toEqual([1, '']);
});

test('a pod that no node has is an error', async () => {
  const {top, remote} = await startNodes();
  const {stderr, exitCode} = await top('nosuch', ...remote);
  expect([stderr, exitCode]).toEqual(['kcri: no node has a pod "nosuch"\n', 1]);
});

test('rows of pods with equal names and UIDs lead to their own nodes', async () => {
  const {testbed, a, b, ssh, remote} = await startNodes();
  const terminal = new ScreenTerminal(120, 30);
  const running = runTop(testbed, terminal, {env: ssh.env, args: remote});
  await screen(terminal, /^default\/web +a [\s\S]*^default\/web +b /m);
  expect(terminal.screen).toMatch(/^ kcri top {3}CPU .* PODS 2 {2}CONTAINERS 2 {2}2 nodes/);
  expect(terminal.screen).toMatch(/^ pods CPU /m);
  terminal.type('O');
  await screen(terminal, /^NAME +NODE▲ /m);
  terminal.type('/ b\r');
  await screen(terminal, /^NAME .*\ndefault\/web +b .*\n └ main-of-b .*\n *\n/m);
  terminal.type('d');
  await screen(terminal, /^ Description {2}default\/web on b[\s\S]*main-of-b:/m);
  terminal.type('q');
  await screen(terminal, /^NAME /m);
  terminal.type('x');
  await screen(terminal, /Delete pod default\/web on b\? \(y\/n\)/);
  terminal.type('y');
  await screen(terminal, /default\/web on b deleted/);
  expect([a.sandboxes.length, b.sandboxes.length]).toEqual([1, 0]);
  terminal.type('q');
  expect(await running).toEqual({exitCode: 0, stderr: ''});
  expect(await ssh.leftovers()).toEqual([]);
});

test('events of the runtime are shown for pods that kcri does not manage', async () => {
  const {testbed, a, ssh, remote} = await startNodes();
  const terminal = new ScreenTerminal(120, 30);
  const running = runTop(testbed, terminal, {env: ssh.env, args: remote.slice(0, 2)});
  await screen(terminal, /^default\/web /m);
  terminal.type('e');
  await screen(terminal, /^ Events {2}default\/web[\s\S]*No events so far/m);
  await until(() => a.callsTo('GetContainerEvents').length > 0);
  a.exitContainer(a.containers[0]!.id, 7);
  await screen(terminal, /stopped {2}container .*default\/web\/main-of-a {2}exit code 7/);
  terminal.type('q');
  await screen(terminal, /^NAME /m);
  a.injectError('GetContainerEvents', {code: 'UNIMPLEMENTED', message: 'no events here'});
  terminal.type('e');
  await screen(terminal, /no events here|not support/);
  terminal.type('qq');
  expect((await running).exitCode).toBe(0);
});

test('a node that fails keeps its last rows, is named in the status line, and is tried again', async () => {
  const {testbed, b, ssh, remote} = await startNodes();
  const terminal = new ScreenTerminal(200, 30);
  const running = runTop(testbed, terminal, {
    env: ssh.env,
    args: [...remote, '-r', 'ssh://refusing/x.sock'],
  });
  await screen(terminal, /^default\/web +a [\s\S]*^default\/web +b /m);
  await screen(terminal, /cannot connect to "refusing" through ssh: .*Connection refused/);
  b.injectError('ListPodSandbox', {code: 'INTERNAL', message: 'the runtime restarts'});
  await screen(terminal, /^ b, refusing failed: node "b": the runtime restarts/m);
  expect(terminal.screen).toMatch(/^default\/web +a /m);
  expect(terminal.screen).toMatch(/^default\/web +b /m);
  expect(terminal.screen).toMatch(/^ kcri top .* {2}1 of 3 nodes$/m);
  b.clearFaults();
  await until(() => !terminal.screen.includes('the runtime restarts'));
  terminal.type('q');
  expect((await running).exitCode).toBe(0);
  expect(await ssh.leftovers()).toEqual([]);
});

test('a lost connection is opened again', async () => {
  const {testbed, ssh, remote} = await startNodes();
  const terminal = new ScreenTerminal(160, 30);
  const running = runTop(testbed, terminal, {env: ssh.env, args: remote.slice(0, 2)});
  await screen(terminal, /^default\/web /m);
  const masters = () => ssh.calls().filter((args) => args.includes('ControlMaster=yes')).length;
  expect(masters()).toBe(1);
  ssh.killConnections();
  await screen(terminal, /node "a": the ssh connection was lost/);
  expect(terminal.screen).toMatch(/^default\/web /m);
  await until(() => masters() > 1 && !terminal.screen.includes('lost'));
  terminal.type('q');
  expect(await running).toEqual({exitCode: 0, stderr: ''});
  expect(await ssh.leftovers()).toEqual([]);
});
