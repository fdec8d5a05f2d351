import {setImmediate as nextTurn} from 'node:timers/promises';
import {describe, test} from 'vitest';
import type {CriError} from '../../../src/cri/errors.js';
import {grpcTransport} from '../../../src/cri/grpc-transport.js';
import {frame} from '../../../src/cri/http2/frames.js';
import {encodeHeaders, type HeaderField} from '../../../src/cri/http2/hpack.js';
import {ERROR_CODE, FLAG, FRAME, SETTING} from '../../../src/cri/http2/protocol-constants.js';
import {frameMessage} from '../../../src/cri/unary/message-framing.js';
import {unaryTransport} from '../../../src/cri/unary/unary-transport.js';
import {until} from '../../base/until.js';
import {against, echo, serve, type Script} from './transport-client.js';
import {
  answer,
  dataFrame,
  END,
  goAwayFrame,
  headers,
  message,
  HEADERS,
  headersFrame,
  OK,
  resetFrame,
  settingsFrame,
  trailers,
  type PeerConnection,
  type Request,
} from './scripted-peer.js';

/* Behavior of both transports, kcri's own and grpc-js as the reference, towards servers of all kinds. */

describe.each([
  ['kcri’s HTTP/2', unaryTransport],
  ['grpc-js', grpcTransport],
] as const)('over %s', (_, open) => {
  const to = async (...scripts: readonly Script[]) => await against(open, ...scripts);
  const statusOf = ({grpcCode, details}: CriError) => [grpcCode, details];

  describe('a response', () => {
    test('is received, and the request has the expected headers', async ({expect}) => {
      const seen: Request[] = [];
      await using server = await to(
        serve((request) => {
          seen.push(request);
          return answer(request.streamId, 'response');
        }),
      );
      expect(await server.call('request', {timeoutMs: 5000, metadata: {traceparent: '00-1-2-03'}})).toBe(
        'response',
      );
      expect(seen[0]?.body).toEqual(frameMessage(Buffer.from('request')));
      expect(seen[0]?.headers).toMatchObject({
        ':method': 'POST',
        ':scheme': 'http',
        ':path': '/test.Service/Method',
        ':authority': 'localhost',
        'content-type': 'application/grpc',
        te: 'trailers',
        traceparent: '00-1-2-03',
      });
      expect(seen[0]?.headers['grpc-timeout']).toMatch(/^\d{4}m$/);
    });

    test('may arrive byte by byte', async ({expect}) => {
      await using server = await to(async (peer) => {
        const bytewise = async (bytes: Buffer): Promise<void> => {
          for (const byte of bytes) {
            peer.send(Buffer.of(byte));
            await new Promise(setImmediate);
          }
        };
        await bytewise(settingsFrame([SETTING.maxConcurrentStreams, 7]));
        const {streamId} = await peer.request();
        await bytewise(answer(streamId, 'in pieces'));
      });
      expect(await server.call()).toBe('in pieces');
    });

    test('may have CONTINUATION frames, padding and priorities', async ({expect}) => {
      await using server = await to(
        serve(({streamId}) => {
          const headers = encodeHeaders(HEADERS);
          const trailers = encodeHeaders([...OK, ['a', 'x'.repeat(20_000)]]);
          const message = frameMessage(Buffer.from('padded'));
          return Buffer.concat([
            frame(
              FRAME.headers,
              FLAG.padded | FLAG.priority,
              streamId,
              Buffer.concat([Buffer.of(4, 0, 0, 0, 0, 1), headers.subarray(0, 3), Buffer.alloc(4)]),
            ),
            frame(FRAME.continuation, 0, streamId, Buffer.alloc(0)),
            frame(FRAME.continuation, FLAG.endHeaders, streamId, headers.subarray(3)),
            frame(FRAME.priority, 0, streamId, Buffer.alloc(5)),
            dataFrame(streamId, Buffer.alloc(0)),
            dataFrame(
              streamId,
              Buffer.concat([Buffer.of(200), message.subarray(0, 3), Buffer.alloc(200)]),
              FLAG.padded,
            ),
            dataFrame(streamId, message.subarray(3)),
            frame(FRAME.headers, FLAG.endStream, streamId, trailers.subarray(0, 16_384)),
            frame(FRAME.continuation, FLAG.endHeaders, streamId, trailers.subarray(16_384)),
          ]);
        }),
      );
      expect(await server.call()).toBe('padded');
    });

    test('may follow unknown frames and an informational response', async ({expect}) => {
      await using server = await to(
        serve(({streamId}) =>
          Buffer.concat([
            frame(0xbe, 0xff, 0, Buffer.from('an extension')),
            headersFrame(streamId, [[':status', '103']]),
            answer(streamId, 'here'),
          ]),
        ),
      );
      expect(await server.call()).toBe('here');
    });

    test('may be an empty message', async ({expect}) => {
      await using server = await to(serve(({streamId}) => answer(streamId, '')));
      expect(await server.call()).toBe('');
    });
  });

  describe('an error response', () => {
    const failing = (...fields: HeaderField[]) =>
      to(serve(({streamId}) => headersFrame(streamId, [...HEADERS, ...fields], END)));

    test('has a percent-encoded text', async ({expect}) => {
      await using server = await failing(
        ['grpc-status', '5'],
        ['grpc-message', 'not found: 100%25 %22gr%C3%BCn%22%0a'],
      );
      expect(statusOf(await server.failure())).toEqual(['NOT_FOUND', 'not found: 100% "grün"\n']);
    });

    test.for([
      ['1', 'CANCELLED'],
      ['14', 'UNAVAILABLE'],
      ['16', 'UNAUTHENTICATED'],
      ['17', 'UNKNOWN'],
      ['five', 'UNKNOWN'],
    ])('with the status %s fails with %s', async ([status, code], {expect}) => {
      await using server = await failing(['grpc-status', status!]);
      expect(statusOf(await server.failure())).toEqual([code, '']);
    });

    test('may follow a message', async ({expect}) => {
      await using server = await to(
        serve(({streamId}) =>
          Buffer.concat([
            headersFrame(streamId, HEADERS),
            dataFrame(streamId, frameMessage(Buffer.from('never mind'))),
            headersFrame(streamId, [['grpc-status', '9']], END),
          ]),
        ),
      );
      expect(statusOf(await server.failure())).toEqual(['FAILED_PRECONDITION', '']);
    });

    test.for([
      [200, 'UNKNOWN'],
      [400, 'INTERNAL'],
      [401, 'UNAUTHENTICATED'],
      [403, 'PERMISSION_DENIED'],
      [404, 'UNIMPLEMENTED'],
      [429, 'UNAVAILABLE'],
      [500, 'UNKNOWN'],
      [502, 'UNAVAILABLE'],
      [503, 'UNAVAILABLE'],
      [504, 'UNAVAILABLE'],
    ] as const)('with only the HTTP status %i fails with %s', async ([status, code], {expect}) => {
      await using server = await to(
        serve(({streamId}) => headersFrame(streamId, [[':status', String(status)]], END)),
      );
      expect(statusOf(await server.failure())).toEqual([code, `Received HTTP status code ${status}`]);
    });

    test.for([
      [ERROR_CODE.none, 'INTERNAL', 'Received RST_STREAM with code 0 (Call ended without gRPC status)'],
      [ERROR_CODE.protocol, 'INTERNAL', 'Received RST_STREAM with code 1'],
      [ERROR_CODE.internal, 'INTERNAL', 'Received RST_STREAM with code 2 (Internal server error)'],
      [ERROR_CODE.flowControl, 'INTERNAL', 'Received RST_STREAM with code 3'],
      [ERROR_CODE.settingsTimeout, 'INTERNAL', 'Received RST_STREAM with code 4'],
      [ERROR_CODE.frameSize, 'INTERNAL', 'Received RST_STREAM with code 6'],
      [ERROR_CODE.cancel, 'CANCELLED', 'Call cancelled'],
      [ERROR_CODE.compression, 'INTERNAL', 'Received RST_STREAM with code 9'],
      [ERROR_CODE.connect, 'INTERNAL', 'Received RST_STREAM with code 10'],
      [ERROR_CODE.enhanceYourCalm, 'RESOURCE_EXHAUSTED', 'Bandwidth exhausted or memory limit exceeded'],
      [ERROR_CODE.inadequateSecurity, 'PERMISSION_DENIED', 'Protocol not secure enough'],
      [13, 'INTERNAL', 'Received RST_STREAM with code 13'],
    ] as const)('with the reset code %i fails with %s', async ([reset, code, details], {expect}) => {
      await using server = await to(
        serve(({streamId}) => Buffer.concat([headersFrame(streamId, HEADERS), resetFrame(streamId, reset)])),
      );
      expect(statusOf(await server.failure())).toEqual([code, details]);
    });
  });

  describe('an invalid response', () => {
    const responding = (...parts: ((id: number) => Buffer)[]) =>
      to(serve(({streamId}) => Buffer.concat(parts.map((part) => part(streamId)))));

    test('without a message is rejected', async ({expect}) => {
      await using server = await responding(headers, trailers);
      expect(statusOf(await server.failure())).toEqual(['UNIMPLEMENTED', 'No message received']);
    });

    test('without a status is rejected', async ({expect}) => {
      await using server = await responding(headers, message, (id) =>
        dataFrame(id, Buffer.alloc(0), FLAG.endStream),
      );
      const [code, details] = statusOf(await server.failure());
      expect([code, details]).toEqual([
        'INTERNAL',
        expect.stringContaining('Call ended without gRPC status'),
      ]);
    });

    test('that is too large is rejected', async ({expect}) => {
      await using server = await responding(headers, (id) =>
        dataFrame(id, Buffer.from([0, 0x08, 0, 0, 1, 1, 2, 3])),
      );
      expect(statusOf(await server.failure())).toEqual([
        'RESOURCE_EXHAUSTED',
        'Received message larger than max (134217729 vs 134217728)',
      ]);
    });

    test('does not affect the next call', async ({expect}) => {
      let calls = 0;
      await using server = await to(
        serve(({streamId}) => {
          calls += 1;
          return calls === 1
            ? Buffer.concat([headers(streamId), dataFrame(streamId, Buffer.from([0, 0xff, 0, 0, 1]))])
            : answer(streamId, 'right');
        }),
      );
      statusOf(await server.failure());
      expect([await server.call(), server.peer.connections.length]).toEqual(['right', 1]);
    });
  });

  describe('a call', () => {
    const silent = async (peer: PeerConnection): Promise<void> => {
      peer.send(settingsFrame());
    };

    test('without a response before its deadline is cancelled', async ({expect}) => {
      let reset: unknown;
      await using server = await to(async (peer) => {
        await silent(peer);
        reset = (await peer.next(FRAME.rstStream)).payload.readUInt32BE();
      });
      const [code, details] = statusOf(await server.failure('request', {timeoutMs: 100}));
      expect([code, details]).toEqual([
        'DEADLINE_EXCEEDED',
        expect.stringMatching(/^Deadline exceeded after 0\.\d{3}s/),
      ]);
      await until(() => reset === ERROR_CODE.cancel);
    });

    test('that is aborted is cancelled', async ({expect}) => {
      let reset: unknown;
      const abort = new AbortController();
      await using server = await to(async (peer) => {
        await silent(peer);
        await peer.request();
        abort.abort(new Error('enough'));
        reset = (await peer.next(FRAME.rstStream)).payload.readUInt32BE();
      });
      await expect(server.call('request', {signal: abort.signal})).rejects.toThrow('enough');
      await until(() => reset === ERROR_CODE.cancel);
    });

    test('fails when the transport is closed, and the next one reconnects', async ({expect}) => {
      await using server = await to(async (peer) => {
        await silent(peer);
        await peer.request();
        server.transport.close();
      }, echo);
      expect(statusOf(await server.failure())).toEqual(['CANCELLED', 'Cancelled on client']);
      expect(await server.call('again')).toBe('again');
    });

    test('fails when the connection is lost, and the next one reconnects', async ({expect}) => {
      await using server = await to(async (peer) => {
        await silent(peer);
        await peer.request();
        peer.socket.destroy();
      }, echo);
      expect(statusOf(await server.failure())).toEqual(['UNAVAILABLE', 'Connection dropped']);
      expect(await server.call('again')).toBe('again');
    });

    test('after a lost connection uses a new one', async ({expect}) => {
      await using server = await to(echo);
      await server.call();
      server.peer.connections[0]?.socket.destroy();
      await until(() => server.peer.connections[0]?.socket.closed === true);
      // Each turn of the event loop delivers what the kernel has for the client's socket.
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      expect([await server.call('again'), server.peer.connections.length]).toEqual(['again', 2]);
    });
  });

  describe('GOAWAY', () => {
    test('lets an accepted call finish, and the next one uses another connection', async ({expect}) => {
      await using server = await to(
        serve(({streamId}, peer) => {
          peer.send(goAwayFrame(2 ** 31 - 1), goAwayFrame(streamId));
          return answer(streamId, 'last');
        }),
        echo,
      );
      expect([await server.call(), await server.call('elsewhere')]).toEqual(['last', 'elsewhere']);
      await until(() => server.peer.connections[0]?.socket.closed === true);
    });

    test('moves an unprocessed call to another connection', async ({expect}) => {
      await using server = await to(
        serve(() => goAwayFrame(0)),
        echo,
      );
      expect([await server.call('elsewhere'), server.peer.connections.length]).toEqual(['elsewhere', 2]);
    });

    test('between calls moves the next one to another connection', async ({expect}) => {
      await using server = await to(
        serve(({streamId}) => Buffer.concat([answer(streamId, 'first'), goAwayFrame(streamId)])),
        echo,
      );
      expect([await server.call(), await server.call('elsewhere')]).toEqual(['first', 'elsewhere']);
    });
  });

  test('a refused call is retried once', async ({expect}) => {
    let refusals = 1;
    await using server = await to(
      serve(({streamId}) => {
        refusals -= 1;
        return refusals >= 0 ? resetFrame(streamId, ERROR_CODE.refusedStream) : answer(streamId, 'taken');
      }),
    );
    expect(await server.call()).toBe('taken');
    refusals = 2;
    expect(statusOf(await server.failure())).toEqual(['UNAVAILABLE', 'Stream refused by server']);
  });
});
