import {describe, expect, test} from 'vitest';
import {frame, PREFACE} from '../../../src/cri/http2/frames.js';
import {ERROR_CODE, FLAG, FRAME, SETTING} from '../../../src/cri/http2/protocol-constants.js';
import {frameMessage} from '../../../src/cri/unary/message-framing.js';
import {unaryTransport, type UnaryTransportOptions} from '../../../src/cri/unary/unary-transport.js';
import {until} from '../../base/until.js';
import {uint32} from '../../base/uint32.js';
import {against, againstOurs as to, collector, echo, serve, type Script} from '../http2/transport-client.js';
import {
  answer,
  dataFrame,
  goAwayFrame,
  headers,
  resetFrame,
  settingsFrame,
  trailers,
  windowFrame,
} from '../http2/scripted-peer.js';

const withOptions = async (options: UnaryTransportOptions, ...scripts: readonly Script[]) =>
  await against((endpoint) => unaryTransport(endpoint, options), ...scripts);

describe('a connection', () => {
  test('starts with the preface and a large receive window', async () => {
    let greeting = Buffer.alloc(0);
    await using server = await to((peer) => {
      peer.socket.on('data', (chunk: Buffer) => (greeting = Buffer.concat([greeting, chunk])));
      return echo(peer);
    });
    await server.call();
    const settings = settingsFrame(
      [SETTING.enablePush, 0],
      [SETTING.initialWindowSize, 2 ** 28],
      [SETTING.maxHeaderListSize, 2 ** 20],
    );
    const expected = Buffer.concat([PREFACE, settings, windowFrame(0, 2 ** 28 - 65_535)]);
    expect(greeting.subarray(0, expected.length)).toEqual(expected);
  });

  test('sends no request before the settings of the server', async () => {
    await using server = await to(async (peer) => {
      await peer.next(FRAME.windowUpdate);
      await new Promise((resolve) => setTimeout(resolve, 20));
      const early = peer.unread;
      peer.send(settingsFrame());
      peer.send(answer((await peer.request()).streamId, `${early} early`));
    });
    expect(await server.call()).toBe('0 early');
  });

  test('acknowledges settings and pings', async () => {
    const seen: string[] = [];
    await using server = await to(async (peer) => {
      peer.send(settingsFrame(), frame(FRAME.ping, 0, 0, Buffer.from('are you?')));
      peer.send(frame(FRAME.ping, FLAG.ack, 0, Buffer.from('not mine')));
      while (seen.length < 6) {
        const {type, flags, payload} = await peer.take();
        seen.push(`${type} ${flags} ${type === FRAME.ping ? payload.toString() : ''}`);
      }
      peer.send(answer(1, 'answered'));
    });
    await server.call();
    expect(seen.toSorted()).toEqual(['0 1 ', '1 4 ', '4 0 ', '4 1 ', '6 1 are you?', '8 0 ']);
  });

  test('enlarges the window after many bytes', async () => {
    const granted: number[] = [];
    const framed = frameMessage(Buffer.alloc(70 * 2 ** 20));
    const chunks = Array.from({length: Math.ceil(framed.length / 16_384)}, (_, index) =>
      framed.subarray(16_384 * index, 16_384 * (index + 1)),
    );
    await using server = await to(async (peer) => {
      peer.send(settingsFrame());
      for (;;) {
        const {type, streamId, payload} = await peer.take();
        if (type === FRAME.windowUpdate) granted.push(payload.readUInt32BE());
        if (type !== FRAME.data) continue;
        peer.send(
          headers(streamId),
          ...chunks.map((chunk) => dataFrame(streamId, chunk)),
          trailers(streamId),
        );
      }
    });
    expect([(await server.call()).length, (await server.call()).length]).toEqual([
      70 * 2 ** 20,
      70 * 2 ** 20,
    ]);
    await until(() => granted.length > 1);
    expect(granted[1]).toBeGreaterThanOrEqual(2 ** 27);
  });

  test('is replaced when its stream IDs are exhausted', async () => {
    await using server = await withOptions({firstStreamId: 2 ** 31 - 5}, echo);
    const names = ['a', 'b', 'c', 'd', 'e'];
    expect(await Promise.all(names.map((name) => server.call(name)))).toEqual(names);
    expect(server.peer.connections).toHaveLength(2);
    await until(() => server.peer.connections[0]?.socket.closed === true);
  });

  test('keeps the process alive only while a call runs', async () => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame());
      const first = await peer.request();
      during = alive();
      peer.send(answer(first.streamId, 'done'));
    });
    let during = 0;
    // The peer's end of the connection counts too.
    const alive = (): number => process.getActiveResourcesInfo().filter((name) => name === 'PipeWrap').length;
    await server.call();
    expect(during - alive()).toBe(1);
  });

  test('sends GOAWAY when it is closed', async () => {
    let goAway: Buffer | undefined;
    await using server = await to(async (peer) => {
      peer.send(settingsFrame());
      peer.send(answer((await peer.request()).streamId, ''));
      goAway = (await peer.next(FRAME.goAway)).payload;
    });
    await server.call();
    server.transport.close();
    await until(() => server.peer.connections[0]?.socket.closed === true);
    expect(goAway).toEqual(uint32(0, 0));
  });
});

describe('a call', () => {
  test('with an early response does not send the rest of its request', async () => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame([SETTING.initialWindowSize, 10]));
      const {streamId} = await peer.requestHeaders();
      peer.send(answer(streamId, 'enough'));
      const reset = await peer.next(FRAME.rstStream);
      peer.send(windowFrame(streamId, 5), resetFrame(streamId, ERROR_CODE.cancel));
      peer.send(
        answer((await peer.requestHeaders()).streamId, `${reset.streamId} ${reset.payload.readUInt32BE()}`),
      );
    });
    expect([await server.call('x'.repeat(100)), await server.call('')]).toEqual(['enough', '1 0']);
  });

  test('that was queued sends its remaining timeout', async () => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame([SETTING.maxConcurrentStreams, 1]));
      const first = await peer.request();
      await new Promise((resolve) => setTimeout(resolve, 100));
      peer.send(answer(first.streamId, ''));
      const second = await peer.request();
      peer.send(answer(second.streamId, second.headers['grpc-timeout']!));
    });
    const [, timeout] = await Promise.all([server.call(), server.call()]);
    expect(parseInt(timeout, 10)).toBeLessThan(9950);
  });

  test('that is queued can be cancelled', async () => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame([SETTING.maxConcurrentStreams, 1]));
      await until(() => tooLate);
      peer.send(answer((await peer.request()).streamId, 'first'));
      peer.send(answer((await peer.request()).streamId, 'third'));
    });
    let tooLate = false;
    const first = server.call('1');
    const second = server.failure('2', {timeoutMs: 20}).then(({grpcCode}) => {
      tooLate = true;
      return grpcCode;
    });
    const third = server.call('3');
    expect(await Promise.all([first, second, third])).toEqual(['first', 'DEADLINE_EXCEEDED', 'third']);
  });

  test('that was not sent uses another connection when this one ends', async () => {
    await using server = await to(
      async (peer) => {
        peer.send(settingsFrame([SETTING.maxConcurrentStreams, 1]));
        const {streamId} = await peer.request();
        peer.send(goAwayFrame(streamId), answer(streamId, 'here'));
      },
      async (peer) => {
        peer.send(settingsFrame([SETTING.maxConcurrentStreams, 1]));
        await peer.request();
        peer.socket.destroy();
      },
      serve(({streamId}) => answer(streamId, 'there')),
    );
    const calls = [server.call(), server.call().catch(String), server.call()];
    expect(await Promise.all(calls)).toEqual([
      'here',
      'CriError: rpc error: code = Unavailable desc = Connection dropped',
      'there',
    ]);
  });

  test('is not sent repeatedly to a server that accepts no streams', async () => {
    await using server = await to((peer) => {
      peer.send(settingsFrame([SETTING.maxConcurrentStreams, 0]), goAwayFrame(0));
    });
    expect(await server.failure()).toMatchObject({
      grpcCode: 'UNAVAILABLE',
      details: 'Connection dropped',
      neverConnected: true,
    });
    expect(server.peer.connections).toHaveLength(1);
  });

  test('that the server may have seen is not retried', async () => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame());
      await peer.request();
      peer.socket.destroy();
    });
    expect(await server.failure()).toMatchObject({grpcCode: 'UNAVAILABLE', neverConnected: false});
  });

  test('fails if the server sends no settings before the connect timeout', async () => {
    await using server = await withOptions({connectTimeoutMs: 50}, () => undefined);
    const failures = await Promise.all([server.failure(), server.failure()]);
    expect(failures).toMatchObject([
      {details: 'no gRPC server answered within 5s', neverConnected: true},
      {details: 'no gRPC server answered within 5s', neverConnected: true},
    ]);
    expect(server.peer.connections).toHaveLength(1);
  });

  test.each([
    ['has an invalid name', {'a b': ''}],
    ['is binary', {'a-bin': ''}],
    ['is a pseudo-header', {':path': ''}],
    ['has two lines', {a: '\n'}],
  ])('with metadata that %s is rejected', async (_, metadata) => {
    const transport = unaryTransport('/nowhere');
    const call = transport.unary('/a/b', Buffer.alloc(0), collector, {
      signal: undefined,
      timeoutMs: 1000,
      metadata,
    });
    await expect(call).rejects.toThrow(TypeError);
  });

  test('with long metadata is sent in several frames', async () => {
    const value = 'x'.repeat(50_000);
    await using server = await to(
      serve(({streamId, headers}) => answer(streamId, String(headers['long']?.length))),
    );
    const options = {signal: undefined, timeoutMs: 5000, metadata: {Long: value}};
    expect((await server.transport.unary('/a/b', Buffer.alloc(0), collector, options)).text).toBe('50000');
  });

  test('with a message that is too large is rejected', async () => {
    const tooLong = Buffer.alloc(128 * 2 ** 20 + 1);
    const call = unaryTransport('/nowhere').unary('/a/b', tooLong, collector, {
      signal: undefined,
      timeoutMs: 1000,
    });
    await expect(call).rejects.toMatchObject({grpcCode: 'RESOURCE_EXHAUSTED'});
  });
});
