import {once} from 'node:events';
import {createServer, type AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import {setImmediate as nextTurn} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {HEAD_LIMIT_MS} from '../../../src/kubelet/server/request-limits.js';
import {until} from '../../base/until.js';
import {askForUpgrade, dial, SpdyClient} from '../../e2e/harness/spdy-client.js';
import {openWebSocket} from '../../e2e/harness/websocket-client.js';
import {
  FakeStreamingServer,
  type ServerSession,
  type StreamingServerOptions,
} from '../../fakes/streaming/spdy-server.js';
import {startGround, type GroundOptions, type ServerGround} from './server-ground.js';

const V5 = 'v5.channel.k8s.io';
const MIB = 1024 * 1024;
const EXEC = '/exec/team/web/main?command=sh';

interface StreamGround extends ServerGround {
  readonly backend: FakeStreamingServer;
  readonly url: (path: string) => string;
}

async function start(streaming: StreamingServerOptions, options: GroundOptions = {}): Promise<StreamGround> {
  const backend = await FakeStreamingServer.start(streaming);
  onTestFinished(() => backend[Symbol.asyncDispose]());
  const ground = await startGround({...options, runtime: {streamingUrl: backend.url}});
  return {...ground, backend, url: (path) => `${ground.servers.urls.main ?? ''}${path}`};
}

describe('a WebSocket in which input can end', () => {
  test('is translated to SPDY: input, output, outcome', async () => {
    const {url, runtime} = await start({
      play: async (session) => {
        const stdin = session.stream('stdin');
        await stdin.until((_text, {isEnded}) => isEnded);
        session.stream('stdout').send(`got ${stdin.received}`);
        session.stream('stderr').send('bad');
        session.exit(7);
      },
    });
    const socket = await openWebSocket(url(`${EXEC}&input=1&output=1&error=1`), V5);
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

  test('tells the size of the terminal that the container has', async () => {
    const {url} = await start(
      {
        play: async (session) => {
          await session.stream('resize').until((said) => said !== '');
          session.stream('stdout').send(session.stream('resize').received);
          session.exit(0);
        },
      },
      {tty: true},
    );
    const socket = await openWebSocket(url('/attach/team/web/main?output=1'), V5);
    socket.send(4, '{"Width":80,"Height":24}');
    await socket.closed;
    expect(socket.text(1)).toBe('{"Width":80,"Height":24}');
  });

  test('tells of a runtime that is lost', async () => {
    const {url} = await start({
      play: (session) => {
        session.crash();
      },
    });
    const socket = await openWebSocket(url(`${EXEC}&output=1`), V5);
    await socket.closed;
    expect(JSON.parse(socket.text(3))).toMatchObject({
      status: 'Failure',
      reason: 'InternalError',
      message: expect.stringContaining('the connection to the runtime was lost') as string,
      code: 500,
    });
  });

  test('that is none after all is refused', async () => {
    const {ask} = await start({});
    const headers = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-protocol': V5,
      'sec-websocket-version': '13',
    };
    expect((await ask(`${EXEC}&output=1`, {headers})).status).toBe(400);
  });
});

test('port-forward is carried in the messages of a WebSocket', async () => {
  const {url, runtime} = await start({
    play: async (session) => {
      const data = session.stream('data');
      await data.until((said) => said === 'ping');
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
  expect((await data.whole()).length).toBe(MIB);
  expect(runtime.callsTo('PortForward')[0]?.request).toEqual({pod_sandbox_id: 'sandbox-id'});
});

describe('who reads slowly', () => {
  const SIZE = 32;
  const play = async (session: ServerSession): Promise<void> => {
    await until(() => session.streams.has('stdout'));
    for (let count = 0; count < SIZE; count++) session.stream('stdout').send(Buffer.alloc(MIB));
    session.exit(0);
  };

  /** Whether the runtime keeps most of it, since nobody takes it. */
  async function heldUp(backend: FakeStreamingServer): Promise<void> {
    let [last, same] = [-1, 0];
    while (same < 1000) {
      await nextTurn();
      const unsent = backend.sessions[0]?.unsentLength ?? 0;
      same = unsent === last ? same + 1 : 0;
      last = unsent;
    }
    expect(last).toBeGreaterThan((SIZE / 2) * MIB);
  }

  test('holds up the runtime, over SPDY', async () => {
    const {url, backend} = await start({play});
    const client = await SpdyClient.open(url(`${EXEC}&output=1`), 'v4.channel.k8s.io');
    client.socket.pause();
    const [, stdout] = ['error', 'stdout'].map((streamtype) => client.open({streamtype}));
    await until(() => (backend.sessions[0]?.unsentLength ?? 0) > 0);
    await heldUp(backend);
    client.socket.resume();
    await stdout?.until(({isEnded}) => isEnded);
    expect(stdout?.length).toBe(SIZE * MIB);
  });

  test('holds up the runtime, over a WebSocket', async () => {
    const {url, backend} = await start({play});
    const {socket, bytes, closed} = await openWebSocket(url(`${EXEC}&output=1`), V5);
    socket.pause();
    await until(() => (backend.sessions[0]?.unsentLength ?? 0) > 0);
    await heldUp(backend);
    socket.resume();
    await closed;
    expect(bytes(1).length).toBe(SIZE * MIB);
  });
});

describe('the end of a connection', () => {
  test("is a client's to tell first, and it is answered", async () => {
    const backend = createServer({allowHalfOpen: true}, (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
        let received = '';
        socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
        socket.on('end', () => socket.end(`all of ${received}`));
      });
    });
    backend.listen(0, '127.0.0.1');
    await once(backend, 'listening');
    onTestFinished(() => {
      backend.close();
    });
    const streamingUrl = `http://127.0.0.1:${(backend.address() as AddressInfo).port}`;
    const {servers} = await startGround({runtime: {streamingUrl}});
    const {status, socket} = await askForUpgrade(`${servers.urls.main ?? ''}/portForward/team/web`, {
      Upgrade: 'SPDY/3.1',
    });
    expect(status).toBe(101);
    socket.end('what there was');
    expect(await text(socket)).toBe('all of what there was');
  });

  test.each([
    [
      'nobody is let in',
      'POST /exec/team/web/main HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n',
      401,
    ],
    ['it is no HTTP', 'what is this', 400],
    ['it is for a proxy', 'CONNECT x:1 HTTP/1.1\r\n', 405],
  ])('is not waited for when %s', async (_why, head, status) => {
    // No time passes at a connection that has been ended.
    const sleep: Clock['sleep'] = (ms, signal) =>
      ms < HEAD_LIMIT_MS ? Promise.resolve() : systemClock.sleep(ms, signal);
    const clock = {now: () => Date.now(), sleep};
    const {servers} = await startGround({access: {anonymous: false}, options: {clock}});
    const socket = await dial(servers.urls.main ?? '');
    let said = '';
    let isClosed = false;
    socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
    socket.on('error', () => undefined).on('close', () => (isClosed = true));
    socket.write(`${head}Host: x\r\n\r\n`);
    // It neither ends nor is quiet.
    await until(() => {
      if (!isClosed) socket.write('x');
      return isClosed;
    });
    expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
