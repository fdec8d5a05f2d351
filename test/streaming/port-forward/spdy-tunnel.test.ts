import {once} from 'node:events';
import {connect, type Socket} from 'node:net';
import {buffer, text} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {StreamingError} from '../../../src/streaming/session/errors.js';
import {parseListenAddresses} from '../../../src/streaming/port-forward/listen-addresses.js';
import {openTunnel} from '../../../src/streaming/port-forward/open-tunnel.js';
import {PortForwarder, type ForwardFailure} from '../../../src/streaming/port-forward/port-forwarder.js';
import {until} from '../../base/until.js';
import {
  answering,
  readAll,
  refusing,
  startFakePortForwardServer,
  type ForwardRequest,
  type FakePortForwardServerOptions,
} from './fake-port-forward-server.js';

const MIB = 1024 * 1024;

/** Starts a forwarder for one port of the fake, and records its events. */
async function forwarding(options: FakePortForwardServerOptions) {
  const fake = await startFakePortForwardServer(options);
  const settings = {signal: new AbortController().signal, clock: systemClock, tls: {}, env: {}};
  const runtime: {failure: Error | undefined} = {failure: undefined};
  const url = async (): Promise<string> => {
    if (runtime.failure !== undefined) throw runtime.failure;
    return await fake.url();
  };
  const tunnel = await openTunnel(url, {...settings, transport: 'spdy'});
  const failures: ForwardFailure[] = [];
  const forwarder = new PortForwarder(tunnel, systemClock, {
    accepted: () => undefined,
    failed: (_ports, failure) => failures.push(failure),
  });
  const groups = parseListenAddresses(['127.0.0.1']);
  if ('bad' in groups) throw new Error('no address');
  const {spec} = await forwarder.listen({local: 0, remote: 80}, groups.groups);
  return {
    fake,
    runtime,
    tunnel,
    failures,
    dial: (): Socket => connect({port: spec.local, host: '127.0.0.1', allowHalfOpen: true}),
    /** Sends a request and returns the response. */
    ask: async (request = 'hello'): Promise<string> => {
      const socket = connect({port: spec.local, host: '127.0.0.1', allowHalfOpen: true});
      socket.write(request);
      const answer = await text(socket);
      socket.end();
      return answer;
    },
    [Symbol.asyncDispose]: async () => {
      forwarder.close();
      await fake[Symbol.asyncDispose]();
    },
  };
}

describe('connections to the runtime', () => {
  test('are reused sequentially with one URL', async () => {
    await using scene = await forwarding({onRequest: answering('hi')});
    const answers = [];
    for (let round = 0; round < 20; round += 1) answers.push(await scene.ask());
    expect(new Set(answers)).toEqual(new Set(['hi']));
    expect({connections: scene.fake.connections, asked: scene.fake.asked}).toEqual({
      connections: 1,
      asked: 1,
    });
    expect(scene.failures).toEqual([]);
  });

  test('are separate for concurrent use and reused later', async () => {
    const requests: ForwardRequest[] = [];
    await using scene = await forwarding({onRequest: (request) => requests.push(request)});
    const asking = Array.from({length: 5}, () => scene.ask());
    await until(() => requests.length === 5);
    expect(new Set(requests.map(({connection}) => connection)).size).toBe(5);
    for (const {data, error} of requests) {
      error.end();
      data.end('done');
    }
    expect(await Promise.all(asking)).toEqual(Array(5).fill('done'));
    const again = scene.ask();
    await until(() => requests.length === 6);
    requests[5]!.error.end();
    requests[5]!.data.end('again');
    expect(await again).toBe('again');
    expect(scene.fake.connections).toBe(5);
  });

  test('are replaced after they ended while idle', async () => {
    await using scene = await forwarding({onRequest: answering('hi')});
    await scene.ask();
    for (const socket of scene.fake.sockets) socket.destroy();
    await until(() => scene.fake.sockets.size === 0);
    await scene.tunnel.lost;
    expect(await scene.ask()).toBe('hi');
    expect(scene.fake.connections).toBe(2);
    expect(scene.failures).toEqual([]);
  });

  test('are replaced without loss if they accept no more streams', async () => {
    await using scene = await forwarding({
      onRequest: answering('hi'),
      accepts: (connection, streamId) => connection > 0 || streamId < 5,
    });
    expect([await scene.ask('first'), await scene.ask('second')]).toEqual(['hi', 'hi']);
    expect(scene.fake.connections).toBe(2);
    expect(scene.failures).toEqual([]);
  });

  test('are not blocked by a stalled reader of another', async () => {
    await using scene = await forwarding({
      onRequest: (request) => {
        if (request.connection > 0) answering('quick')(request);
        else for (let sent = 0; sent < 64; sent += 1) request.data.write(Buffer.alloc(MIB));
      },
    });
    const stalled = scene.dial();
    stalled.write('everything, please');
    await once(stalled, 'readable');
    expect(await scene.ask()).toBe('quick');
    stalled.destroy();
  });

  test('are opened for a hundred concurrent requests', async () => {
    await using scene = await forwarding({onRequest: answering('hi')});
    const answers = await Promise.all(Array.from({length: 100}, () => scene.ask()));
    expect(answers.filter((answer) => answer === 'hi')).toHaveLength(100);
    expect(scene.failures).toEqual([]);
  });
});

describe('the end of a direction', () => {
  test('reaches the pod before its response', async () => {
    await using scene = await forwarding({
      onRequest: ({data, error}) => {
        void readAll(data).then((asked) => {
          error.end();
          data.end(`you said ${asked}`);
        });
      },
    });
    const socket = scene.dial();
    socket.end('all of it');
    expect(await text(socket)).toBe('you said all of it');
  });

  test('reaches the local side while it still sends data', async () => {
    let said: Promise<string> | undefined;
    await using scene = await forwarding({
      onRequest: ({data, error}) => {
        said = readAll(data).finally(() => error.end());
        data.end('enough of me');
      },
    });
    const socket = scene.dial();
    expect(await readAll(socket)).toBe('enough of me');
    socket.end('and now I');
    expect(await said).toBe('and now I');
  });

  test('of both directions frees the connection although the local side stays open', async () => {
    await using scene = await forwarding({onRequest: answering('bye')});
    const idler = scene.dial();
    idler.write('x');
    expect(await readAll(idler)).toBe('bye');
    expect(await scene.ask()).toBe('bye');
    expect(scene.fake.connections).toBe(1);
    idler.destroy();
  });
});

test('data arrives in both directions', async () => {
  await using scene = await forwarding({
    onRequest: ({data, error}) => {
      data.pipe(data);
      data.once('end', () => error.end());
    },
  });
  const sent = Buffer.alloc(8 * MIB, 'kcri forwards bytes as they are. ');
  const socket = scene.dial();
  socket.end(sent);
  expect((await buffer(socket)).equals(sent)).toBe(true);
});

test('a slow local reader pauses the runtime instead of filling memory', async () => {
  let taken = 0;
  await using scene = await forwarding({
    onRequest: ({data}) => {
      const send = (): void => {
        data.write(Buffer.alloc(MIB), () => {
          taken += 1;
          if (taken < 256) send();
        });
      };
      send();
    },
  });
  const socket = scene.dial();
  socket.write('x');
  let before = -1;
  await expect
    .poll(
      () => {
        const quiet = taken === before;
        before = taken;
        return quiet && taken > 0;
      },
      {interval: 300},
    )
    .toBe(true);
  expect(taken).toBeLessThan(64);
  socket.destroy();
});

/** Returns how a local connection ends: regularly, or with an error. */
async function endOf(socket: Socket): Promise<string> {
  socket.resume();
  return await new Promise((resolve) => {
    socket.once('error', (error) => {
      resolve((error as NodeJS.ErrnoException).code ?? '');
    });
    socket.once('end', () => {
      resolve('end');
    });
  });
}

describe('failures', () => {
  test('a refused connection is reset, and the next one uses the same SPDY connection', async () => {
    let refuse = true;
    await using scene = await forwarding({
      onRequest: (request) => {
        if (refuse) refusing(request);
        else answering('hi')(request);
      },
    });
    expect(await endOf(scene.dial())).toBe('ECONNRESET');
    await until(() => scene.failures.length === 1);
    expect(scene.failures).toEqual([
      {kind: 'refused', message: expect.stringContaining('connection refused') as string},
    ]);
    refuse = false;
    expect(await scene.ask()).toBe('hi');
    expect(scene.fake.connections).toBe(1);
  });

  test('a lost runtime resets the local connection', async () => {
    await using scene = await forwarding({
      onRequest: ({data, socket}) => {
        data.write('half', () => {
          setImmediate(() => socket.destroy());
        });
      },
    });
    expect(await endOf(scene.dial())).toBe('ECONNRESET');
    await until(() => scene.failures.length === 1);
    expect(scene.failures).toEqual([{kind: 'lost'}]);
  });

  test('an unavailable runtime fails only connections of that time', async () => {
    await using scene = await forwarding({onRequest: answering('hi')});
    const busy = scene.dial();
    await until(() => scene.fake.connections === 1);
    scene.runtime.failure = new StreamingError('no runtime');
    expect(await endOf(scene.dial())).toBe('ECONNRESET');
    expect(scene.failures).toEqual([{kind: 'unreachable', error: scene.runtime.failure}]);
    scene.runtime.failure = undefined;
    expect(await scene.ask()).toBe('hi');
    busy.destroy();
  });

  test('a closed local side closes its connection to the runtime', async () => {
    await using scene = await forwarding({
      onRequest: ({data}) => {
        data.write('go on');
      },
    });
    const socket = scene.dial();
    await once(socket, 'data');
    socket.resetAndDestroy();
    await until(() => scene.fake.sockets.size === 0);
    expect(scene.failures).toEqual([]);
  });
});

test('closing the forwarder ends open connections without reporting failures', async () => {
  const scene = await forwarding({onRequest: ({data}) => void data.write('go on')});
  const socket = scene.dial();
  await once(socket, 'data');
  await scene[Symbol.asyncDispose]();
  await until(() => socket.readableEnded || socket.destroyed);
  expect(scene.failures).toEqual([]);
  socket.destroy();
});
