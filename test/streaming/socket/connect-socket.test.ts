import {writeFile} from 'node:fs/promises';
import {createServer as createHttpServer} from 'node:http';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {join} from 'node:path';
import {TLSSocket} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {DialOptions, TlsOptions} from '../../../src/streaming/session/session.js';
import {openSpdySession} from '../../../src/streaming/spdy/spdy-session.js';
import {openWebSocketSession} from '../../../src/streaming/websocket/websocket-session.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {CERTIFICATE, KEY} from '../../fakes/streaming/test-certificate.js';
import {FakeStreamingServer} from '../../fakes/streaming/fake-streaming-server.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const DIAL: DialOptions = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};
const STREAMS = {stdin: false, stdout: true, stderr: true, tty: false};

async function exitCode(url: string, options: Partial<DialOptions>): Promise<unknown> {
  const session = await openSpdySession(url, STREAMS, {...DIAL, ...options});
  onTestFinished(() => {
    session.close();
  });
  return await session.result;
}

async function started(secure?: (socket: Socket) => Socket): Promise<FakeStreamingServer> {
  const server = await FakeStreamingServer.start({
    ...(secure === undefined ? {} : {wrapSocket: secure}),
    handleSession: (session) => {
      session.sendExitCode(5);
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe('TLS', () => {
  const server = () =>
    started((socket) => new TLSSocket(socket, {isServer: true, cert: CERTIFICATE, key: KEY}));
  const connectTo = async (tls: TlsOptions): Promise<unknown> =>
    await exitCode(`https://127.0.0.1:${(await server()).port}/exec/geheim`, {tls});
  async function caFile(): Promise<string> {
    const path = join(await temporaryDirectory(), 'ca.pem');
    await writeFile(path, CERTIFICATE);
    return path;
  }

  test('a certificate of the given CA is accepted', async () => {
    expect(await connectTo({ca: await caFile()})).toEqual({kind: 'exited', exitCode: 5});
    expect(await connectTo({ca: await caFile(), serverName: 'streaming.test'})).toMatchObject({exitCode: 5});
  });

  test('any certificate is accepted with insecure', async () => {
    expect(await connectTo({insecure: true})).toMatchObject({exitCode: 5});
  });

  test('an unknown certificate is rejected by default, with a hint and without the token', async () => {
    const refused = connectTo({});
    await expect(refused).rejects.toThrow(
      /^TLS handshake with 127.0.0.1:\d+ failed: self-signed certificate$/,
    );
    await expect(refused).rejects.toMatchObject({hint: expect.stringContaining('--tls-ca') as string});
  });

  test('a certificate for another name is rejected', async () => {
    const refused = connectTo({ca: await caFile(), serverName: 'other.test'});
    await expect(refused).rejects.toThrow(/Hostname\/IP does not match/);
  });

  test('an unreadable file is reported', async () => {
    await expect(connectTo({ca: '/no/such/ca.pem'})).rejects.toThrow(
      /^cannot read "\/no\/such\/ca.pem": no such file or directory$/,
    );
  });
});

test('TLS files are read before connecting, and no connection stays open if they are invalid', async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => undefined).resume()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/exec/x`;
  const path = join(await temporaryDirectory(), 'cert.pem');
  await writeFile(path, 'no certificate');
  await expect(exitCode(url, {tls: {cert: path, key: path}})).rejects.toThrow(/^TLS handshake with/);
  await until(() => sockets.length === 1 && sockets[0]!.closed);
  await expect(exitCode(url, {tls: {ca: '/no/such/ca.pem'}})).rejects.toThrow(/^cannot read/);
  await expect(exitCode(url, {tls: {cert: path, key: path}})).rejects.toThrow(/^TLS handshake with/);
  await until(() => sockets.at(-1)!.closed && sockets.length > 1);
  expect(sockets).toHaveLength(2);
});

describe.each([
  ['SPDY', openSpdySession],
  ['WebSocket', openWebSocketSession],
])('a slow server over %s', (_what, open) => {
  /** Opens a session at a server that sends only this response. */
  async function opening(answer: string): Promise<unknown> {
    let asked = false;
    const server = createServer((socket) => {
      onTestFinished(() => void socket.destroy());
      socket
        .on('error', () => undefined)
        .once('data', () => {
          asked = true;
          socket.write(answer);
        });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const clock = new FakeClock();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/exec/x`;
    const result = open(url, STREAMS, {...DIAL, clock}).catch((error: unknown) => error);
    await until(() => asked && clock.sleeping > 0);
    await clock.advance(30_000);
    return await result;
  }

  test('fails after a timeout', async () => {
    const error = await opening('');
    expect(String(error)).toMatch(/cannot open a stream at 127.0.0.1:\d+: no response/);
  });

  test('with an incomplete error response fails after a timeout', async () => {
    const error = await opening('HTTP/1.1 500 No\r\nContent-Length: 100\r\n\r\nbecause');
    expect(String(error)).toMatch(/no response|refused the session: 500/);
  });
});

describe('a proxy', () => {
  /** Starts an HTTP proxy that connects every target to one local port, or refuses. */
  async function startProxy(port: number, status = 200) {
    const asked: {target: string; login: string | undefined}[] = [];
    const proxy = createHttpServer().on('connect', (request, socket: Socket) => {
      asked.push({target: request.url ?? '', login: request.headers['proxy-authorization']});
      if (status !== 200) {
        socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
        return;
      }
      const onward = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connected\r\n\r\n');
        socket.pipe(onward).pipe(socket);
      });
      for (const each of [socket, onward]) each.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    return {asked, url: `http://user:geheim@127.0.0.1:${(proxy.address() as AddressInfo).port}`};
  }

  test('is used for other machines', async () => {
    const {port} = await started();
    const proxy = await startProxy(port);
    const result = await exitCode('http://node.test:4321/exec/x', {env: {HTTP_PROXY: proxy.url}});
    expect(result).toEqual({kind: 'exited', exitCode: 5});
    const login = `Basic ${Buffer.from('user:geheim').toString('base64')}`;
    expect(proxy.asked).toEqual([{target: 'node.test:4321', login}]);
  });

  test('that refuses leads to an error without its password', async () => {
    const proxy = await startProxy(0, 407);
    const refused = exitCode('http://node.test:4321/exec/x', {env: {HTTP_PROXY: proxy.url}});
    await expect(refused).rejects.toThrow(
      /^proxy 127.0.0.1:\d+ refused the connection to node.test:4321: 407$/,
    );
  });
});

test('connecting to an unresponsive address fails after a timeout', async () => {
  const clock = new FakeClock();
  // Packets to this network are dropped (RFC 5737); without a route, that is the error.
  const opening = exitCode('http://192.0.2.1:9/exec/x', {clock}).catch((error: unknown) => String(error));
  await clock.advance(30_000);
  expect(await opening).toMatch(/cannot connect to 192.0.2.1:9: (no response|connect E\w+)/);
});
