import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {FrameReader} from '../../../src/streaming/spdy/frame-reader.js';
import {control, frameHeader} from '../../fakes/streaming/fake-streaming-server.js';

/** Returns the frames read from chunks; the data of a frame is joined. */
function read(chunks: readonly Buffer[]): readonly string[] {
  const seen: string[] = [];
  const reader = new FrameReader({
    onData: (id, chunk) => {
      const last = seen.at(-1);
      if (last?.startsWith(`data ${id} `) === true) seen[seen.length - 1] = last + chunk.toString();
      else seen.push(`data ${id} ${chunk.toString()}`);
    },
    onFin: (id) => seen.push(`fin ${id}`),
    onControl: (type, flags, payload) => seen.push(`control ${type} ${flags} ${payload.toString('hex')}`),
  });
  for (const chunk of chunks) reader.read(chunk);
  return reader.isBetweenFrames ? seen : [...seen, 'incomplete'];
}

const FRAMES = Buffer.concat([
  control(2, Buffer.from('00000001', 'hex')),
  frameHeader(1, 0, 5),
  Buffer.from('hello'),
  control(7, Buffer.alloc(0)),
  frameHeader(1, 1, 0),
  frameHeader(3, 1, 2),
  Buffer.from('ok'),
]);
const SEEN = ['control 2 0 00000001', 'data 1 hello', 'control 7 0 ', 'fin 1', 'data 3 ok', 'fin 3'];

describe('FrameReader', () => {
  test('reads frames from chunks of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(FRAMES.length)), (cuts) => {
        const offsets = [0, ...cuts.toSorted((a, b) => a - b), FRAMES.length];
        const chunks = offsets.slice(1).map((offset, index) => FRAMES.subarray(offsets[index], offset));
        expect(read(chunks)).toEqual(SEEN);
      }),
    );
  });

  test('reports whether it is inside a frame', () => {
    expect(read([FRAMES.subarray(0, 3)])).toEqual(['incomplete']);
    expect(read([FRAMES.subarray(0, 22)])).toEqual(['control 2 0 00000001', 'data 1 he', 'incomplete']);
  });

  test('passes a frame of the maximum length on without buffering it', () => {
    let length = 0;
    const reader = new FrameReader({
      onData: (_id, chunk) => (length += chunk.length),
      onFin: () => undefined,
      onControl: () => undefined,
    });
    reader.read(frameHeader(1, 0, 0xffffff));
    for (let left = 0xffffff; left > 0; left -= 65_536) reader.read(Buffer.alloc(Math.min(left, 65_536)));
    expect({length, whole: reader.isBetweenFrames}).toEqual({length: 0xffffff, whole: true});
  });

  test.each([
    ['HTTP', Buffer.from('\x80TTP/1.1'), 'does not speak SPDY/3.1'],
    ['SPDY/2', Buffer.from('8002000100000000', 'hex'), 'does not speak SPDY/3.1'],
    ['a huge control frame', Buffer.from('8003000100ffffff', 'hex'), 'a control frame of 16777215 bytes'],
  ])('rejects %s', (_input, bytes, message) => {
    expect(() => read([bytes])).toThrow(message);
  });

  test('throws only StreamingError for arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({maxLength: 40})), (chunks) => {
        try {
          read(chunks.map((chunk) => Buffer.from(chunk)));
        } catch (error) {
          expect(String(error)).toMatch(/the streaming server (sent|does not speak)/);
        }
      }),
    );
  });
});
