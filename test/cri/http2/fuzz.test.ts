import fc from 'fast-check';
import {expect, test} from 'vitest';
import {uint32} from '../../base/uint32.js';
import {CriError} from '../../../src/cri/errors.js';
import {frame} from '../../../src/cri/http2/frames.js';
import {encodeHeaders} from '../../../src/cri/http2/hpack.js';
import {FRAME, SETTING} from '../../../src/cri/http2/protocol-constants.js';
import {frameMessage} from '../../../src/cri/unary/message-framing.js';
import {unaryTransport} from '../../../src/cri/unary/unary-transport.js';
import {collector} from './transport-client.js';
import {answer, HEADERS, OK, ScriptedPeer, settingsFrame, type PeerConnection} from './scripted-peer.js';

/* Servers that send anything, from frames in a strange order to noise. The seeds are fixed. */

const bytes = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({maxLength}).map((array) => Buffer.from(array));
const small = fc.nat(70_000).map((number) => uint32(number));

/** Payloads that are valid for some frame, so that the fuzzed code is reached. */
const payload = fc.oneof(
  bytes(40),
  small,
  fc.tuple(small, small).map((both) => Buffer.concat(both)),
  fc.constantFrom(
    Buffer.alloc(0),
    Buffer.alloc(8),
    encodeHeaders(HEADERS),
    encodeHeaders(OK),
    encodeHeaders([...HEADERS, ...OK]),
    frameMessage(Buffer.from('message')),
    frameMessage(Buffer.from('message')).subarray(0, 7),
    settingsFrame([SETTING.initialWindowSize, 3]).subarray(9),
    settingsFrame([SETTING.maxConcurrentStreams, 1], [SETTING.maxFrameSize, 16_384]).subarray(9),
  ),
);
const anyFrame = fc
  .tuple(
    fc.oneof(fc.constantFrom<number[]>(...Object.values(FRAME)), fc.nat(255)),
    fc.oneof(fc.constantFrom(0, 1, 4, 5, 8), fc.nat(255)),
    fc.constantFrom(0, 1, 3, 5, 1, 3, 5, 2, 7, 99),
    payload,
  )
  .map(([type, flags, streamId, content]) => frame(type, flags, streamId, content));
const goodAnswer = fc.constantFrom(1, 3, 5).map((id) => answer(id, 'good'));
const parts = fc.array(
  fc.oneof(
    {weight: 6, arbitrary: anyFrame},
    {weight: 3, arbitrary: goodAnswer},
    {weight: 1, arbitrary: bytes(60)},
  ),
  {maxLength: 8},
);

test('every call ends with a response or a CriError, whatever the server sends', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({isReady: fc.boolean(), parts, cut: fc.integer({min: 1, max: 40}), leaves: fc.boolean()}),
      async ({isReady, parts, cut, leaves}) => {
        const sent = Buffer.concat(parts);
        const script = async (peer: PeerConnection): Promise<void> => {
          if (isReady) {
            peer.send(settingsFrame());
            await peer.request();
          }
          for (let at = 0; at < sent.length; at += cut) {
            peer.send(sent.subarray(at, at + cut));
            if (cut % 2 === 0) await new Promise(setImmediate);
          }
          if (leaves) peer.socket.end();
        };
        await using peer = await ScriptedPeer.start(script);
        const transport = unaryTransport(peer.endpoint, {connectTimeoutMs: 20});
        const call = async (): Promise<string> => {
          const options = {signal: undefined, timeoutMs: 20};
          return await transport.unary('/a.B/C', Buffer.from('request'), collector, options).then(
            ({text}) => text,
            (error: unknown) => (error instanceof CriError ? 'CriError' : String(error)),
          );
        };
        const ends = await Promise.all([call(), call(), call()]);
        transport.close();
        for (const end of ends) expect(['good', 'message', '', 'CriError']).toContain(end);
        expect(peer.connections.length).toBeLessThanOrEqual(7);
      },
    ),
    {numRuns: 600, seed: 9113},
  );
});
