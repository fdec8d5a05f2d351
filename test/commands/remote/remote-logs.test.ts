import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {basename, join} from 'node:path';
import {gzipSync} from 'node:zlib';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';
import {installFakeSsh, remoteEndpoint} from '../../fakes/ssh/install-fake-ssh.js';

/** Returns the line number `index` of a log; lines are a second apart. */
const line = (index: number, text = `line ${index}`): string =>
  `${new Date(Date.UTC(2026, 10, 20, 14, 0, index)).toISOString()} ${index % 7 === 0 ? 'stderr' : 'stdout'} F ${text}\n`;

const lines = (from: number, to: number): string =>
  Array.from({length: to - from}, (_, index) =>
    line(from + index, `line ${from + index} ${'x'.repeat(60)}`),
  ).join('');

/** Starts a runtime with a container whose log is rotated twice, the older file compressed, on a fake remote node. */
async function startNode(host?: string) {
  const directory = await temporaryDirectory();
  const path = join(directory, '0.log');
  writeFileSync(`${path}.20261120-140500.gz`, gzipSync(lines(0, 1000)));
  writeFileSync(`${path}.20261120-141000`, lines(1000, 2000));
  writeFileSync(path, lines(2000, 3000));
  const sandbox = aSandbox();
  const container = aContainer({sandbox, name: 'main', state: 'CONTAINER_RUNNING', logPath: path});
  const runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [container]});
  onTestFinished(async () => {
    await runtime.stop();
  });
  const ssh = await installFakeSsh();
  const endpoint = remoteEndpoint(runtime, host);
  return {runtime, ssh, endpoint, directory, path, id: container.id};
}

test.each([
  [[]],
  [['--timestamps', '--tail=3']],
  [['--tail=1500']],
  [['--tail=2500', '--stream=stderr']],
  [['--since=2026-11-20T14:20:00Z', '--until=2026-11-20T14:40:00Z']],
  [['--limit-bytes=100']],
])('the log of a container on a remote node is read as on this machine: %j', async (flags) => {
  const {runtime, ssh, endpoint} = await startNode();
  const local = await runKcri(['logs', 'main', ...flags], {endpoint: runtime.endpoint});
  const remote = await runKcri(['logs', 'main', ...flags], {endpoint, env: ssh.env});
  expect(remote).toEqual(local);
  expect(remote.exitCode).toBe(0);
  expect(await ssh.leftovers()).toEqual([]);
});

test('-f continues after a rotation on the remote node, until the container exits', async () => {
  const {runtime, ssh, endpoint, path, id} = await startNode();
  let stdout = '';
  const running = runKcri(['logs', '-f', '--tail=0', 'main'], {
    endpoint,
    env: ssh.env,
    onStdout: (text) => (stdout += text),
  });
  const add = async (index: number): Promise<void> => {
    appendFileSync(path, line(index));
    await until(() => stdout.includes(`line ${index}\n`));
  };
  await until(() => runtime.callsTo('ContainerStatus').length > 1);
  await add(3001);
  appendFileSync(path, line(3002));
  renameSync(path, `${path}.20261120-150000`);
  writeFileSync(path, '');
  appendFileSync(`${path}.20261120-150000`, line(3005));
  await add(3004);
  renameSync(path, `${path}.20261120-151000`);
  await add(3006);
  runtime.exitContainer(id, 0);
  expect(await running).toEqual({
    stdout: [3001, 3002, 3005, 3004, 3006].map((index) => `line ${index}\n`).join(''),
    stderr: '',
    exitCode: 0,
  });
  expect(await ssh.leftovers()).toEqual([]);
});

test('Ctrl-C ends following on a remote node with exit code 0', async () => {
  const {ssh, endpoint} = await startNode();
  const interrupt = new AbortController();
  const {exitCode} = await runKcri(['logs', '-f', '--tail=1', 'main'], {
    endpoint,
    env: ssh.env,
    signal: interrupt.signal,
    onStdout: () => {
      interrupt.abort(new Error('interrupted'));
    },
  });
  expect(exitCode).toBe(0);
  expect(await ssh.leftovers()).toEqual([]);
});

test.each([
  [
    'is missing',
    (path: string) => {
      rmSync(path);
    },
    /^kcri: cannot read log ".*0\.log": no such file or directory\nhint: the user of the ssh connection/,
  ],
  [
    'is a directory',
    (path: string) => {
      rmSync(path);
      mkdirSync(path);
    },
    /^kcri: the log ".*0\.log" is not a regular file/,
  ],
  [
    'is /dev/zero',
    (path: string) => {
      rmSync(path);
      symlinkSync('/dev/zero', path);
    },
    /^kcri: the log ".*0\.log" is not a regular file/,
  ],
])('a log of a remote node that %s is an error', async (_, spoil, message) => {
  const {ssh, endpoint, path} = await startNode();
  spoil(path);
  const {stdout, stderr, exitCode} = await runKcri(['logs', 'main'], {endpoint, env: ssh.env});
  expect(stderr).toMatch(message);
  expect([stdout, exitCode]).toEqual(['', 1]);
});

test('a node without an SFTP server is an error that names the option of sshd', async () => {
  const {ssh, endpoint} = await startNode('no-sftp');
  const {stderr, exitCode} = await runKcri(['logs', 'main'], {endpoint, env: ssh.env});
  expect(stderr).toContain('node "no-sftp": cannot read files: subsystem request failed on channel 0');
  expect(stderr).toContain('Subsystem sftp');
  expect(exitCode).toBe(1);
});

test('rm deletes the logs on the remote node, unless they are older than the container', async () => {
  const {runtime, ssh, endpoint, directory, path, id} = await startNode();
  runtime.exitContainer(id, 0);
  const old = `${path}.20261120-140500.gz`;
  utimesSync(old, 0, 0);
  const {stderr, exitCode} = await runKcri(['rm', 'main'], {endpoint, env: ssh.env});
  expect([stderr, exitCode]).toEqual([`kcri: warning: kept "${old}": it is older than the container\n`, 0]);
  expect(readdirSync(directory)).toEqual([basename(old)]);
});
