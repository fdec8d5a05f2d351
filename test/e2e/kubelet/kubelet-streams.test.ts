import {readdirSync, readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {createClientCertificate} from '../../kubelet/server/auth/client-certificate.js';
import {requestAt} from '../../kubelet/server/server-testbed.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {listProcessesWithArgument} from '../harness/leftovers.js';
import {aContainer, aManifest, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {requestUpgrade, SpdyClient, type ClientStream} from '../harness/spdy-client.js';
import {openChannelClient} from '../harness/channel-client.js';

const NODE = 'streamed';
const POD = `streams-web-${NODE}`;
const alice = createClientCertificate('alice');
const [WEB, ECHO, NOBODY] = [8080, 9001, 9999];
const MIB = 1024 * 1024;

/** A web server with a small and a large page, and an echo server. */
const SERVERS = [
  `mkdir /www; echo small >/www/small; dd if=/dev/zero of=/www/big bs=1M count=50 2>/dev/null; httpd -p ${WEB} -h /www`,
  `nc -ll -p ${ECHO} -e cat </dev/null >/dev/null 2>&1 &`,
  'echo ready; exec cat',
].join('\n');

interface Session {
  readonly client: SpdyClient;
  readonly stream: (type: string) => ClientStream;
  /** Returns the exit code, or the status if it contains none. */
  readonly result: () => Promise<unknown>;
}

describe.each(newestRuntime)("the kubelet's streams: $name", (which) => {
  let kubelet: KubeletTestbed;
  let daemon: ServingDaemon;
  const openFiles = (): number => readdirSync(`/proc/${daemon.pid}/fd`).length;

  const urlOf = (
    path: string,
    query: Readonly<Record<string, string>>,
    command: readonly string[] = [],
  ): string => {
    const params = new URLSearchParams([
      ...Object.entries(query),
      ...command.map((word): [string, string] => ['command', word]),
    ]);
    return `${daemon.urls.main}${path}?${params.toString()}`;
  };
  /** Opens an exec session with these streams. */
  const exec = async (
    types: readonly ('stdin' | 'stdout' | 'stderr' | 'resize')[],
    ...command: readonly string[]
  ): Promise<Session> => await session(`/exec/default/${POD}/main`, types, command);
  const session = async (
    path: string,
    types: readonly string[],
    command: readonly string[] = [],
  ): Promise<Session> => {
    const names: Readonly<Record<string, string>> = {
      stdin: 'input',
      stdout: 'output',
      stderr: 'error',
      resize: 'tty',
    };
    const query = Object.fromEntries(types.map((type) => [names[type] ?? '', '1']));
    const client = await SpdyClient.open(urlOf(path, query, command), 'v4.channel.k8s.io', alice);
    onTestFinished(() => {
      client.close();
    });
    const streams = new Map(['error', ...types].map((streamtype) => [streamtype, client.open({streamtype})]));
    const stream = (type: string): ClientStream => streams.get(type) ?? never(type);
    return {client, stream, result: async () => exitCode(await stream('error').readAll())};
  };
  const forward = async (): Promise<SpdyClient> => {
    const client = await SpdyClient.open(
      `${daemon.urls.main}/portForward/default/${POD}`,
      'portforward.k8s.io',
      alice,
    );
    onTestFinished(() => {
      client.close();
    });
    return client;
  };

  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    const clientCa = join(kubelet.podTestbed.runtime.rootDir, 'clients.crt');
    await writeFile(clientCa, alice.certificate);
    const containers = [aContainer('main', {command: shellCommand(SERVERS), stdin: true})];
    await kubelet.put('streams-web', aManifest('streams-web', {containers, dnsPolicy: 'Default'}));
    daemon = await kubelet.start(`authentication: {x509: {clientCAFile: ${clientCa}}}\n`);
    const log = `/containerLogs/default/${POD}/main`;
    await until(async () => (await requestAt(daemon.urls.main, log, {client: alice})).body === 'ready\n');
  });
  afterAll(async () => {
    await kubelet[Symbol.asyncDispose]();
  });

  describe('exec', () => {
    test('returns output, errors and the exit code', async () => {
      const {stream, result} = await exec(['stdout', 'stderr'], 'sh', '-c', 'echo out; echo bad >&2; exit 7');
      expect(await Promise.all([stream('stdout').readAll(), stream('stderr').readAll(), result()])).toEqual([
        'out\n',
        'bad\n',
        7,
      ]);
    });

    test("closes a command's input at its end", async () => {
      const {stream, result} = await exec(['stdin', 'stdout'], 'sh', '-c', 'cat; echo end');
      stream('stdin').send('in');
      stream('stdin').end();
      expect(await stream('stdout').readAll()).toBe('inend\n');
      expect(await result()).toBe(0);
    });

    test('sets the size of the terminal', async () => {
      const {stream, result} = await exec(['stdin', 'stdout', 'resize'], 'sh');
      stream('resize').send('{"Width":93,"Height":27}');
      await stream('stdout').waitUntil(({text}) => text.includes('#'));
      stream('stdin').send('until stty size | grep "27 93"; do sleep 0.05; done; exit 3\n');
      expect(await stream('stdout').readAll()).toMatch(/27 93/);
      expect(await result()).toBe(3);
    });

    test('returns every byte of the input', async () => {
      const {stream, result} = await exec(['stdin', 'stdout'], 'sh', '-c', 'md5sum; true');
      const piece = Buffer.alloc(MIB, 'some bytes of input ');
      for (let count = 0; count < 20; count++) stream('stdin').send(piece);
      stream('stdin').end();
      const {createHash} = await import('node:crypto');
      const hash = createHash('md5');
      for (let count = 0; count < 20; count++) hash.update(piece);
      expect(await stream('stdout').readAll()).toBe(`${hash.digest('hex')}  -\n`);
      expect(await result()).toBe(0);
    });

    test('waits for a slow reader and buffers little', async () => {
      const dd = 'dd if=/dev/zero bs=1M count=121';
      const {client, stream, result} = await exec(['stdout', 'stderr'], 'sh', '-c', dd);
      await stream('stdout').waitUntil(({length}) => length > 0);
      client.socket.pause();
      const before = residentBytes(daemon.pid);
      await waitUntilStable(() => writtenBy(dd));
      expect(writtenBy(dd)).toBeLessThan(60 * MIB);
      expect(residentBytes(daemon.pid) - before).toBeLessThan(40 * MIB);
      client.socket.resume();
      await stream('stdout').waitUntil(({isEnded}) => isEnded);
      expect(stream('stdout').length).toBe(121 * MIB);
      expect(await result()).toBe(0);
    });

    test('ends when the client disconnects, and leaves no open connections', async () => {
      const before = openFiles();
      const marker = `cat - /dev/null`;
      for (let count = 0; count < 3; count++) {
        const {client, stream} = await exec(['stdin', 'stdout'], ...marker.split(' '));
        stream('stdin').send('x');
        await stream('stdout').waitUntil(({text}) => text === 'x');
        client.close();
      }
      await until(() => listProcessesWithArgument(marker).length === 0);
      await until(() => openFiles() <= before);
    });

    test('closes the connection when the command has exited and the client has not', async () => {
      const before = openFiles();
      const {client, stream, result} = await exec(['stdout'], 'true');
      client.socket.removeAllListeners('end');
      expect(await result()).toBe(0);
      expect(stream('stdout').isEnded).toBe(true);
      await until(() => openFiles() <= before);
    });

    test.each([
      ['main?output=1', {}, 400, /.*/],
      ['nope?output=1&command=id', {}, 500, /container not found \("nope"\)/],
      ['main?command=id', {}, 400, /you must specify at least 1 of stdin, stdout, stderr/],
    ])('%s is rejected', async (path, headers, status, body) => {
      const url = `${daemon.urls.main}/exec/default/${POD}/${path}`;
      const answer = await requestUpgrade(url, {Upgrade: 'SPDY/3.1', ...headers}, alice);
      answer.socket.destroy();
      expect(answer.status).toBe(status);
      expect(answer.rest.toString()).toMatch(body);
    });
  });

  describe('exec over WebSocket', () => {
    test.each(['channel.k8s.io', 'v4.channel.k8s.io', 'v5.channel.k8s.io'])('in %s', async (protocol) => {
      const url = urlOf(`/exec/default/${POD}/main`, {output: '1', error: '1'}, [
        ...['sh', '-c', 'echo out; echo bad >&2; exit 7'],
      ]);
      const socket = await openChannelClient(url, protocol, alice);
      await socket.closed;
      expect([socket.text(1), socket.text(2)]).toEqual(['out\n', 'bad\n']);
      if (protocol.startsWith('v')) expect(exitCode(socket.text(3))).toBe(7);
    });

    test("closes a command's input at its end, since v5", async () => {
      const url = urlOf(`/exec/default/${POD}/main`, {input: '1', output: '1'}, [
        'sh',
        '-c',
        'cat; echo end',
      ]);
      const socket = await openChannelClient(url, 'v5.channel.k8s.io', alice);
      socket.send(0, 'in');
      socket.end(0);
      await socket.closed;
      expect(socket.text(1)).toBe('inend\n');
      expect(exitCode(socket.text(3))).toBe(0);
    });
  });

  test("attach connects to the container's streams", async () => {
    const {stream, client} = await session(`/attach/default/${POD}/main`, ['stdin', 'stdout']);
    stream('stdin').send('hello\n');
    await stream('stdout').waitUntil(({text}) => text.includes('hello'));
    client.close();
  });

  describe('port-forward', () => {
    const get = async (client: SpdyClient, id: number, port: number, path: string): Promise<string> => {
      const {data, error} = openPair(client, id, port);
      data.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      data.end();
      return (await data.readAll()) + (await error.readAll());
    };

    test('transfers many requests to several ports', async () => {
      const client = await forward();
      const answers = Array.from({length: 20}, (_, id) => get(client, id, WEB, '/small'));
      const {data} = openPair(client, 100, ECHO);
      data.send('over there');
      await data.waitUntil(({text}) => text === 'over there');
      for (const answer of await Promise.all(answers)) expect(answer).toMatch(/200 OK[^]*small\n$/);
      data.end();
      await data.readAll();
    });

    test('reports a port without a listener, and continues', async () => {
      const client = await forward();
      const {error} = openPair(client, 0, NOBODY);
      expect(await error.readAll()).toMatch(/9999/);
      expect(await get(client, 1, WEB, '/small')).toMatch(/small\n$/);
    });

    test('works over WebSocket', async () => {
      const url = `${daemon.urls.main}/portForward/default/${POD}`;
      const client = await SpdyClient.openTunnel(url, alice);
      onTestFinished(() => {
        client.close();
      });
      expect(await get(client, 0, WEB, '/small')).toMatch(/200 OK[^]*small\n$/);
      const {data} = openPair(client, 1, WEB);
      data.send('GET /big HTTP/1.0\r\n\r\n');
      expect((await data.readAll()).length).toBeGreaterThan(50 * MIB);
    });

    test('transfers 50 MiB to a slow reader', async () => {
      const client = await forward();
      const {data} = openPair(client, 0, WEB);
      data.send('GET /big HTTP/1.0\r\n\r\n');
      await data.waitUntil(({length}) => length > 0);
      client.socket.pause();
      const before = residentBytes(daemon.pid);
      await delay(300);
      expect(residentBytes(daemon.pid) - before).toBeLessThan(30 * MIB);
      client.socket.resume();
      const whole = await data.readAll();
      expect(whole.length - whole.indexOf('\r\n\r\n') - 4).toBe(50 * MIB);
    });
  });

  test('a stopping daemon ends its sessions and exits', async () => {
    const {client, stream} = await exec(['stdin', 'stdout'], 'cat');
    stream('stdin').send('x');
    await stream('stdout').waitUntil(({text}) => text === 'x');
    daemon.kcri.kill('SIGTERM');
    await client.closed;
    expect((await daemon.kcri.exited).exitCode).toBe(0);
  });
});

function never(type: string): never {
  throw new Error(`no stream ${type} was asked for`);
}

function openPair(client: SpdyClient, id: number, port: number): {data: ClientStream; error: ClientStream} {
  const headers = {port: String(port), requestid: String(id)};
  const error = client.open({...headers, streamtype: 'error'});
  error.end();
  return {error, data: client.open({...headers, streamtype: 'data'})};
}

interface Status {
  readonly status?: string;
  readonly details?: {readonly causes?: readonly {readonly reason?: string; readonly message?: string}[]};
}

function exitCode(text: string): unknown {
  const {status, details} = JSON.parse(text) as Status;
  return status === 'Success'
    ? 0
    : Number(details?.causes?.find(({reason}) => reason === 'ExitCode')?.message);
}

function residentBytes(pid: number): number {
  return Number(/VmRSS:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** Returns the number of bytes that the processes with that command line have written. */
function writtenBy(command: string): number {
  const pids = listProcessesWithArgument(command).map((line) => Number(line.split(' ', 1)[0]));
  return Math.max(
    0,
    ...pids.map((pid) => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1])),
  );
}

/** Waits until a number no longer changes. */
async function waitUntilStable(read: () => number): Promise<void> {
  let [last, same] = [-1, 0];
  while (same < 5) {
    const now = read();
    same = now === last ? same + 1 : 0;
    last = now;
    await delay(50);
  }
}
