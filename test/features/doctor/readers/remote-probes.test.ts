import {once} from 'node:events';
import {createServer as createHttpServer} from 'node:http';
import {createServer, type AddressInfo, type Server} from 'node:net';
import {existsSync} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {
  askNameServerOverTcp,
  parsePortOwners,
  remoteHttpAnswer,
  remoteKernelLog,
  remotePortOwners,
  remoteStats,
  type RemoteProbe,
} from '../../../../src/features/doctor/readers/remote-probes.js';
import {parseListeningSockets} from '../../../../src/base/host/find-port-owner.js';
import {parseKernelLog} from '../../../../src/features/why/snapshot/kernel-log.js';
import {RemoteNode} from '../../../../src/remote/remote-node.js';
import {until} from '../../../base/until.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {installFakeSsh} from '../../../fakes/ssh/install-fake-ssh.js';

/** Connects to a node that is this machine. `env` is that of its programs, too. */
async function aNode(env: Readonly<Record<string, string>> = {}, host = 'b'): Promise<RemoteProbe> {
  const ssh = await installFakeSsh();
  const {signal} = new AbortController();
  const path = [env['PATH'], ssh.env['PATH']].filter(Boolean).join(':');
  const node = await RemoteNode.open(
    {user: undefined, host, port: undefined, socketPath: undefined},
    {
      env: {...ssh.env, ...env, PATH: path},
      clock: systemClock,
      signal,
      interactive: false,
      connectTimeoutMs: 10_000,
      onRequest: () => undefined,
    },
  );
  onTestFinished(() => node.close());
  return {node, signal};
}

async function listenOn(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Writes shell scripts. */
async function writePrograms(directory: string, scripts: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, script] of Object.entries(scripts))
    await writeFile(join(directory, name), `#!/bin/sh\n${script}\n`, {mode: 0o755});
}

/** Returns the sockets of this machine that listen. */
const socketsNow = async () => ({value: parseListeningSockets(await readFile('/proc/net/tcp', 'utf8'))});

describe('a remote node', () => {
  test('answers on its ports, or nothing listens', async () => {
    const probe = await aNode();
    const port = await listenOn(createHttpServer((_request, response) => response.writeHead(401).end()));
    const url = `http://127.0.0.1:${port}/pods`;
    const closed = createServer();
    const free = `http://127.0.0.1:${await listenOn(closed)}/pods`;
    closed.close();
    await once(closed, 'close');
    const sockets = await socketsNow();
    expect(await remoteHttpAnswer(url, sockets, probe)).toEqual({url, status: 401});
    expect(await remoteHttpAnswer(free, sockets, probe)).toEqual({url: free, status: 0});
  });

  test('says that nothing listens only of a port without a socket, whatever ssh reports of others', async () => {
    const probe = await aNode();
    const free = `http://127.0.0.1:1/pods`;
    const unknown = {error: 'denied'};
    await expect(remoteHttpAnswer(free, unknown, probe)).rejects.toThrow();
    const hangingUp = createServer((socket) => socket.destroy());
    const url = `https://127.0.0.1:${await listenOn(hangingUp)}/pods`;
    await expect(remoteHttpAnswer(url, await socketsNow(), probe)).rejects.toThrow();
  });

  test('names the processes that listen', async () => {
    const probe = await aNode();
    const port = await listenOn(createServer());
    const sockets = parseListeningSockets(await readFile('/proc/net/tcp', 'utf8'));
    const name = (await readFile('/proc/self/comm', 'utf8')).trim();
    expect(
      await remotePortOwners(
        sockets.filter((socket) => socket.port === port),
        probe,
      ),
    ).toEqual([{port, process: {pid: process.pid, name}}]);
  });

  test('asks its file systems, and leaves one behind that does not answer', async () => {
    const directory = await temporaryDirectory();
    const pidFile = join(directory, 'pid');
    await writePrograms(directory, {
      stat: `[ "$3" = "/it's hung" ] || { /usr/bin/stat "$@"; code=$?; : > ${directory}/$code; exit $code; }\necho $$ > ${pidFile}\nexec sleep 600`,
      // The time begins when all but the hung one have ended.
      sleep: `[ "$1" = 1 ] || exec /bin/sleep "$1"\nwhile ! [ -s ${pidFile} -a -e ${directory}/0 -a -e ${directory}/1 ]; do /bin/sleep 0.01; done\nexec /bin/sleep 1`,
    });
    const probe = await aNode({PATH: directory});
    expect(await remoteStats(['/proc', "/it's hung", '/nonexistent'], 1, probe)).toEqual([0, undefined, 1]);
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGKILL');
  });

  test('waits for its file systems no longer than they need, and ends the timer', async () => {
    const directory = await temporaryDirectory();
    const pidFile = join(directory, 'pid');
    await writePrograms(directory, {
      stat: `while ! [ -s ${pidFile} ]; do /bin/sleep 0.01; done\nexec /usr/bin/stat "$@"`,
      sleep: `echo $$ > ${pidFile}\nexec /bin/sleep "$1"`,
    });
    const probe = await aNode({PATH: directory});
    expect(await remoteStats(['/proc', '/nonexistent'], 600, probe)).toEqual([0, 1]);
    const timer = Number(await readFile(pidFile, 'utf8'));
    await until(() => !existsSync(`/proc/${timer}`));
  });

  test.runIf(process.getuid?.() === 0)('has a log of its kernel', async () => {
    const records = parseKernelLog(await remoteKernelLog(await aNode()));
    expect(records[0]).toEqual({micros: expect.any(Number) as number, text: expect.any(String) as string});
  });

  test('has name servers that answer over TCP', async () => {
    const questions: string[] = [];
    const server = createServer((socket) => {
      socket.on('data', (question) => {
        questions.push(question.toString('hex'));
        socket.end(Buffer.from('0011', 'hex'));
      });
    });
    const probe = await aNode();
    const port = await listenOn(server);
    await askNameServerOverTcp('127.0.0.1', probe, port);
    expect(questions).toEqual(['00116b63010000010000000000000000020001']);
  });

  test('has name servers that do not answer over TCP', async () => {
    await expect(askNameServerOverTcp('127.99.99.99', await aNode())).rejects.toThrow('over TCP');
  });
});

test('a port with a socket of each address family has one owner, and one that cannot be seen has none', () => {
  const sockets = [
    {port: 10_250, inode: '7'},
    {port: 10_250, inode: '8'},
    {port: 10_248, inode: '9'},
  ];
  expect(parsePortOwners(sockets, '12 socket:[7] kubelet\nx\n13 socket:[70] other\n')).toEqual([
    {port: 10_250, process: {pid: 12, name: 'kubelet'}},
    {port: 10_248},
  ]);
});
