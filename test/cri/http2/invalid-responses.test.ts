import {describe, expect, test} from 'vitest';
import {frame, frameHeader} from '../../../src/cri/http2/frames.js';
import {encodeHeaders} from '../../../src/cri/http2/hpack.js';
import {FLAG, FRAME, SETTING} from '../../../src/cri/http2/protocol-constants.js';
import {until} from '../../base/until.js';
import {uint32} from '../../base/uint32.js';
import {againstOurs as to, echo, serve} from './transport-client.js';
import {
  answer,
  dataFrame,
  END,
  headers,
  message,
  HEADERS,
  headersFrame,
  OK,
  resetFrame,
  settingsFrame,
  trailers,
  windowFrame,
} from './scripted-peer.js';

describe('an invalid response fails only its call', () => {
  test.each<[string, ((id: number) => Buffer)[], string, string]>([
    ['two messages', [headers, message, message], 'UNIMPLEMENTED', 'Too many responses received'],
    [
      'part of a message',
      [headers, (id) => dataFrame(id, Buffer.from([0, 0, 0, 0, 2, 1])), trailers],
      'INTERNAL',
      'the response is truncated',
    ],
    [
      'part of a prefix',
      [headers, (id) => dataFrame(id, Buffer.from([0, 0])), trailers],
      'INTERNAL',
      'the response is truncated',
    ],
    [
      'compressed',
      [headers, (id) => dataFrame(id, Buffer.from([1, 0, 0, 0, 0]))],
      'INTERNAL',
      'the response is compressed, which was not requested',
    ],
    [
      'a web page',
      [
        (id) =>
          headersFrame(id, [
            [':status', '200'],
            ['content-type', 'text/html'],
          ]),
      ],
      'UNKNOWN',
      'Received HTTP status code 200',
    ],
    ['data without headers', [message], 'INTERNAL', 'protocol error: a response without headers'],
    [
      'no HTTP status',
      [(id) => headersFrame(id, OK, END)],
      'INTERNAL',
      'protocol error: a response without an HTTP status',
    ],
    [
      'headers inside the response',
      [headers, headers],
      'INTERNAL',
      'protocol error: headers inside a response',
    ],
    [
      'no trailers',
      [headers, message, (id) => dataFrame(id, Buffer.alloc(0), FLAG.endStream)],
      'INTERNAL',
      'Call ended without gRPC status',
    ],
    [
      'no status',
      [headers, message, (id) => headersFrame(id, [], END)],
      'UNKNOWN',
      'Received HTTP status code 200',
    ],
    [
      'headers that are large only after decoding',
      [
        (id) => {
          const tableEntry = [Buffer.from('4001617f811c', 'hex'), Buffer.alloc(3712, 'x')];
          const block = Buffer.concat([encodeHeaders(HEADERS), ...tableEntry, Buffer.alloc(1000, 0xbe)]);
          return frame(FRAME.headers, FLAG.endHeaders, id, block);
        },
      ],
      'RESOURCE_EXHAUSTED',
      'Received headers larger than max',
    ],
  ])('%s', async (_, parts, grpcCode, details) => {
    let calls = 0;
    await using server = await to(
      serve((request, peer) => {
        calls += 1;
        return calls === 1
          ? Buffer.concat(parts.map((part) => part(request.streamId)))
          : answer(request.streamId, String(peer.unread));
      }),
    );
    expect(await server.failure()).toMatchObject({grpcCode, details});
    await server.call();
    expect(server.peer.connections).toHaveLength(1);
  });
});

test('a web page leads to the hint that the server is not a CRI runtime', async () => {
  await using server = await to(serve(({streamId}) => headersFrame(streamId, [[':status', '500']], END)));
  expect((await server.failure()).hint).toContain('is not a CRI runtime');
});

describe('a server that violates the protocol', () => {
  const wrong: Record<string, (id: number) => Buffer> = {
    'a push': (id) => frame(FRAME.pushPromise, FLAG.endHeaders, id, uint32(2)),
    'data for an unknown stream': () => dataFrame(99, Buffer.from('x')),
    'data for stream 0': () => dataFrame(0, Buffer.from('x')),
    'headers of a server stream': () => headersFrame(2, HEADERS),
    'a reset of an unknown stream': () => resetFrame(99, 0),
    'a short reset': (id) => frame(FRAME.rstStream, 0, id, Buffer.alloc(3)),
    'settings for a stream': (id) => frame(FRAME.settings, 0, id, Buffer.alloc(0)),
    'truncated settings': () => frame(FRAME.settings, 0, 0, Buffer.alloc(7)),
    'an invalid window': () => settingsFrame([SETTING.initialWindowSize, 2 ** 31]),
    'frames that are too small': () => settingsFrame([SETTING.maxFrameSize, 16_383]),
    'frames that are too large': () => settingsFrame([SETTING.maxFrameSize, 2 ** 24]),
    'enabled push': () => settingsFrame([SETTING.enablePush, 1]),
    'a short ping': () => frame(FRAME.ping, 0, 0, Buffer.alloc(7)),
    'a short GOAWAY': () => frame(FRAME.goAway, 0, 0, Buffer.alloc(7)),
    'a window update of 0': () => windowFrame(0, 0),
    'a window above the maximum': () => windowFrame(0, 2 ** 31 - 1),
    'a window update of an unknown stream': () => windowFrame(99, 1),
    'a CONTINUATION without HEADERS': (id) => frame(FRAME.continuation, FLAG.endHeaders, id, Buffer.alloc(0)),
    'a CONTINUATION of another stream': (id) =>
      Buffer.concat([
        headersFrame(id, HEADERS, 0),
        frame(FRAME.continuation, FLAG.endHeaders, id + 2, Buffer.alloc(0)),
      ]),
    'data inside a header block': (id) => Buffer.concat([headersFrame(id, HEADERS, 0), message(id)]),
    'endless headers': (id) =>
      Buffer.concat([
        headersFrame(id, HEADERS, 0),
        ...Array.from({length: 65}, () => frame(FRAME.continuation, 0, id, Buffer.alloc(16_384))),
      ]),
    'endless empty CONTINUATION frames': (id) =>
      Buffer.concat([
        headersFrame(id, HEADERS, 0),
        ...Array.from({length: 20_000}, () => frame(FRAME.continuation, 0, id, Buffer.alloc(0))),
      ]),
    'malformed headers': (id) => frame(FRAME.headers, FLAG.endHeaders, id, Buffer.of(0x80)),
    'headers with too much padding': (id) =>
      frame(FRAME.headers, FLAG.endHeaders | FLAG.padded, id, Buffer.of(9, 0x88)),
    'a frame above the maximum size': (id) => frameHeader(FRAME.data, 0, id, 16_385),
    'HTTP/1': () => Buffer.from('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'),
  };

  test.each(Object.entries(wrong))('%s', async (_, bytes) => {
    await using server = await to(async (peer) => {
      peer.send(settingsFrame());
      const {streamId} = await peer.request();
      peer.send(bytes(streamId));
      const {payload} = await peer.next(FRAME.goAway);
      code = payload.readUInt32BE(4);
    }, echo);
    let code = 0;
    const error = await server.failure();
    expect(error.grpcCode).toBe('INTERNAL');
    expect(error.details).toMatch(/^protocol error: /);
    expect(error.hint).toContain('is not a CRI runtime');
    await until(() => code > 0);
    expect(await server.call('again')).toBe('again');
  });

  test.each([
    ['a PING', frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ['a settings acknowledgement', frame(FRAME.settings, FLAG.ack, 0, Buffer.alloc(0))],
    ['data', dataFrame(1, Buffer.from('x'))],
    ['HTTP/1', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('a server that starts with %s is not an HTTP/2 server', async (_, bytes) => {
    await using server = await to((peer) => {
      peer.send(bytes);
    }, echo);
    const error = await server.failure();
    expect(error).toMatchObject({grpcCode: 'UNAVAILABLE', neverConnected: true});
    expect(error.details).toContain('error reading server preface: protocol error');
    expect(error.plainMessage).toMatch(/^the server does not speak HTTP\/2: /);
    expect(error.hint).toContain('is not a CRI runtime');
    expect(await server.call('again')).toBe('again');
  });

  test('a server that sends pings without reading the replies is disconnected', async () => {
    const pings = Buffer.concat(Array.from({length: 4000}, () => frame(FRAME.ping, 0, 0, Buffer.alloc(8))));
    await using server = await to(async (peer) => {
      peer.send(settingsFrame());
      await peer.request();
      peer.socket.pause();
      const flood = (): boolean => !peer.socket.destroyed && peer.socket.write(pings, flood);
      flood();
    });
    expect(await server.failure()).toMatchObject({
      grpcCode: 'INTERNAL',
      details: 'protocol error: the peer does not read replies',
    });
  });

  test('late frames of a finished call are ignored', async () => {
    await using server = await to(
      serve(({streamId}, peer) => {
        if (streamId === 1) return settingsFrame();
        peer.send(headersFrame(1, HEADERS), message(1), windowFrame(1, 10), trailers(1), resetFrame(1, 8));
        return answer(streamId, 'second');
      }),
    );
    expect((await server.failure('first', {timeoutMs: 50})).grpcCode).toBe('DEADLINE_EXCEEDED');
    expect(await server.call()).toBe('second');
  });
});
