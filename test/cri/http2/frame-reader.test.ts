import fc from 'fast-check';
import {expect, test} from 'vitest';
import {FrameReader} from '../../../src/cri/http2/frame-reader.js';
import {frame, frameHeader} from '../../../src/cri/http2/frames.js';
import {FLAG, FRAME, ProtocolError} from '../../../src/cri/http2/protocol-constants.js';

/** Returns the frames read from chunks; the data of a frame is joined. */
function read(chunks: readonly Buffer[]): string[] {
  const seen: string[] = [];
  let data = '';
  const reader = new FrameReader({
    onData: (_id, chunk) => (data += chunk.toString()),
    onDataEnd: (id, flags, length) => {
      seen.push(`data ${id} ${flags} ${length} ${data}`);
      data = '';
    },
    onFrame: (type, flags, id, payload) => seen.push(`${type} ${flags} ${id} ${payload.toString()}`),
  });
  for (const chunk of chunks) reader.read(chunk);
  return seen;
}

const padded = (text: string, padding: number): Buffer =>
  Buffer.concat([Buffer.of(padding), Buffer.from(text), Buffer.alloc(padding)]);

const BYTES = Buffer.concat([
  frame(FRAME.settings, 0, 0, Buffer.alloc(0)),
  frame(FRAME.ping, FLAG.ack, 0, Buffer.from('12345678')),
  frame(FRAME.data, 0, 1, Buffer.from('hello')),
  frame(FRAME.data, FLAG.padded, 1, padded('padded', 3)),
  frame(FRAME.data, FLAG.padded | FLAG.endStream, 3, padded('', 0)),
  frame(FRAME.data, FLAG.endStream, 0x80000005, Buffer.alloc(0)),
  frame(0xfe, 0xff, 7, Buffer.from('unknown')),
]);
const SEEN = [
  '4 0 0 ',
  '6 1 0 12345678',
  'data 1 0 5 hello',
  'data 1 8 10 padded',
  'data 3 9 1 ',
  'data 5 1 0 ',
  '254 255 7 unknown',
];

test('frames are read from chunks of any size', () => {
  expect(read([...BYTES].map((byte) => Buffer.of(byte)))).toEqual(SEEN);
  fc.assert(
    fc.property(fc.array(fc.nat(BYTES.length)), (cuts) => {
      const offsets = [0, ...cuts.toSorted((a, b) => a - b), BYTES.length];
      expect(read(offsets.slice(1).map((offset, index) => BYTES.subarray(offsets[index], offset)))).toEqual(
        SEEN,
      );
    }),
    {seed: 9113},
  );
});

test.each([
  ['longer than the maximum', frameHeader(FRAME.headers, 0, 1, 16_385)],
  ['shorter than its padding', frame(FRAME.data, FLAG.padded, 1, Buffer.of(1))],
  ['padded without a padding length', frame(FRAME.data, FLAG.padded, 1, Buffer.alloc(0))],
])('a frame that is %s is a protocol error', (_, bytes) => {
  expect(() => read([bytes])).toThrow(ProtocolError);
});

test('data in one chunk is not copied', () => {
  const bytes = frame(FRAME.data, 0, 1, Buffer.from('hello'));
  let passed: Buffer = Buffer.alloc(0);
  new FrameReader({
    onData: (_id, piece) => (passed = piece),
    onDataEnd: () => undefined,
    onFrame: () => undefined,
  }).read(bytes);
  expect(passed.buffer).toBe(bytes.buffer);
});
