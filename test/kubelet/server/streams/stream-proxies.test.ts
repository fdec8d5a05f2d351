import {createServer} from 'node:net';
import {text} from 'node:stream/consumers';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {HEAD_LIMIT_MS} from '../../../../src/http-server/request-server.js';
import {listenOnLoopback} from '../../../base/listen-on-loopback.js';
import {until} from '../../../base/until.js';
import {requestUpgrade, dial, SpdyClient} from '../../../e2e/harness/spdy-client.js';
import {openChannelClient} from '../../../e2e/harness/channel-client.js';
import {
  FakeStreamingServer,
  type ServerSession,
  type StreamingServerOptions,
} from '../../../fakes/streaming/fake-streaming-server.js';
import {startServerTestbed, type ServerTestbedOptions, type ServerTestbed} from '../server-testbed.js';
import {realTimeClock} from '../../../fakes/fake-clock.js';

const V5 = 'v5.channel.k8s.io';
const MIB = 1024 * 1024;
const EXEC = '/exec/team/web/main?command=sh';

interface StreamTestbed extends ServerTestbed {
  readonly backend: FakeStreamingServer;
  readonly url: (path: string) => string;
}

async function start(
  streaming: StreamingServerOptions,
  options: ServerTestbedOptions = {},
): Promise<StreamTestbed> {
  const backend = await FakeStreamingServer.start(streaming);
  onTestFinished(() => backend[Symbol.asyncDispose]());
  const testbed = await startServerTestbed({...options, runtime: {streamingUrl: backend.url}});
  return {...testbed, backend, url: (path) => `${testbed.servers.urls.main ?? ''}${path}`};
}

describe('a v5 WebSocket', () => {
  test('is translated to SPDY with stdin, stdout, stderr and exit code', async () => {
    const {url, runtime} = await start({
      handleSession: async (session) => {
        const stdin = session.stream('stdin');
        await stdin.waitUntil((_text, {isEnded}) => isEnded);
        session.stream('stdout').send(`got ${stdin.received}`);
        session.stream('stderr').send('bad');
        session.sendExitCode(7);
      },
    });
    const socket = await openChannelClient(url(`${EXEC}&input=1&output=1&error=1`), V5);
    expect(socket.protocol).toBe(V5);
    socket.send(0, 'some ');
    socket.send(0, 'input');
    socket.end(0);
    socket.send(0, 'too late');
    expect(await socket.closed).toBe(1000);
    expect([socket.text(1), socket.text(2)]).toEqual(['got some input', 'bad']);
    expect(JSON.parse(socket.text(3))).toMatchObject({
      reason: 'NonZeroExitCode',
      details: {causes: [{reason: 'ExitCode', message: '7'}]},
    });
    expect(runtime.callsTo('Exec')).toHaveLength(1);
  });

  test('forwards the size of the terminal', async () => {
    const {url} = await start(
      {
        handleSession: async (session) => {
          await session.stream('resize').waitUntil((received) => received !== '');
          session.stream('stdout').send(session.stream('resize').received);
          session.sendExitCode(0);
        },
      },
      {tty: true},
    );
    const socket = await openChannelClient(url('/attach/team/web/main?output=1'), V5);
    socket.send(4, '{"Width":80,"Height":24}');
    await socket.closed;
    expect(socket.text(1)).toBe('{"Width":80,"Height":24}');
  });

  test('reports a lost connection to the runtime', async () => {
    const {url} = await start({
      handleSession: (session) => {
        session.crash();
      },
    });
    const socket = await openChannelClient(url(`${EXEC}&output=1`), V5);
    await socket.closed;
    expect(JSON.parse(socket.text(3))).toMatchObject({
      status: 'Failure',
      reason: 'InternalError',
      message: expect.stringContaining('the connection to the runtime was lost') as string,
      code: 500,
    });
  });

  test('with an invalid handshake is rejected', async () => {
    const {request} = await start({});
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-protocol': V5,
      'sec-websocket-version': '13',
    };
    expect((await request(`${EXEC}&output=1`, {headers})).status).toBe(400);
  });
});

test('port-forward is tunneled through a WebSocket', async () => {
  const {url, runtime} = await start({
    handleSession: async (session) => {
      const data = session.stream('data');
      await data.waitUntil((received) => received === 'ping');
      data.send(Buffer.alloc(MIB, 'x'));
      data.fin();
    },
  });
  const client = await SpdyClient.openTunnel(url('/portForward/team/web'));
  onTestFinished(() => {
    client.close();
  });
  const data = client.open({streamtype: 'data', port: '80', requestid: '0'});
  data.send('ping');
  expect((await data.readAll()).length).toBe(MIB);
  expect(runtime.callsTo('PortForward')[0]?.request).toEqual({pod_sandbox_id: 'sandbox-id'});
});

describe('a client that reads slowly', () => {
  const SIZE = 32;
  const play = async (session: ServerSession): Promise<void> => {
    await until(() => session.streams.has('stdout'));
    for (let count = 0; count < SIZE; count++) session.stream('stdout').send(Buffer.alloc(MIB));
    session.sendExitCode(0);
  };

  /** Expects that the runtime still holds most of the data once no more is read. */
  async function expectBackpressure(backend: FakeStreamingServer): Promise<void> {
    let [last, same] = [-1, 0];
    while (same < 1000) {
      await nextTurn();
      const unsent = backend.sessions[0]?.unsentLength ?? 0;
      same = unsent === last ? same + 1 : 0;
      last = unsent;
    }
    expect(last).toBeGreaterThan((SIZE / 2) * MIB);
  }

  test('slows down the runtime, over SPDY', async () => {
    const {url, backend} = await start({handleSession: play});
    const client = await SpdyClient.open(url(`${EXEC}&output=1`), 'v4.channel.k8s.io');
    client.socket.pause();
    const [, stdout] = ['error', 'stdout'].map((streamtype) => client.open({streamtype}));
    await until(() => (backend.sessions[0]?.unsentLength ?? 0) > 0);
    await expectBackpressure(backend);
    client.socket.resume();
    await stdout?.waitUntil(({isEnded}) => isEnded);
    expect(stdout?.length).toBe(SIZE * MIB);
  });

  test('slows down the runtime, over a WebSocket', async () => {
    const {url, backend} = await start({handleSession: play});
    const {socket, bytes, closed} = await openChannelClient(url(`${EXEC}&output=1`), V5);
    socket.pause();
    await until(() => (backend.sessions[0]?.unsentLength ?? 0) > 0);
    await expectBackpressure(backend);
    socket.resume();
    await closed;
    expect(bytes(1).length).toBe(SIZE * MIB);
  });
});

describe('closing a connection', () => {
  test('a client that half-closes the connection still receives output', async () => {
    const backend = createServer({allowHalfOpen: true}, (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
        let received = '';
        socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
        socket.on('end', () => socket.end(`all of ${received}`));
      });
    });
    const streamingUrl = `http://127.0.0.1:${await listenOnLoopback(backend)}`;
    onTestFinished(() => {
      backend.close();
    });
    const {servers} = await startServerTestbed({runtime: {streamingUrl}});
    const {status, socket} = await requestUpgrade(`${servers.urls.main ?? ''}/portForward/team/web`, {
      Upgrade: 'SPDY/3.1',
    });
    expect(status).toBe(101);
    socket.end('what there was');
    expect(await text(socket)).toBe('all of what there was');
  });

  test.each([
    [
      'it is not authenticated',
      'POST /exec/team/web/main HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n',
      401,
    ],
    ['it is not HTTP', 'what is this', 400],
    ['it is meant for a proxy', 'CONNECT x:1 HTTP/1.1\r\n', 405],
  ])(
    'a client that keeps sending is disconnected after a request is rejected because %s',
    async (_reason, head, status) => {
      // The timeout of a closed connection expires at once.
      const clock = realTimeClock({sleepMs: (ms) => (ms < HEAD_LIMIT_MS ? 0 : ms)});
      const {servers} = await startServerTestbed({access: {anonymous: false}, options: {clock}});
      const socket = await dial(servers.urls.main ?? '');
      let received = '';
      let isClosed = false;
      socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
      socket.on('error', () => undefined).on('close', () => (isClosed = true));
      socket.write(`${head}Host: x\r\n\r\n`);
      // The client does not close the connection and keeps sending.
      await until(() => {
        if (!isClosed) socket.write('x');
        return isClosed;
      });
      expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    },
  );
});
