import {expect, test} from 'vitest';
import {FrameBoundary} from '../../../src/recording/tap/frame-boundary.js';

/** Types and flags of HTTP/2. */
const [DATA, HEADERS, CONTINUATION] = [0, 1, 9];
const END_HEADERS = 4;

function frame(type: number, flags: number, length: number): Buffer {
  const bytes = Buffer.alloc(9 + length, 0xff);
  bytes.writeUIntBE(length, 0, 3);
  bytes[3] = type;
  bytes[4] = flags;
  return bytes;
}

test.each([1, 2, 8, 9, 10, 13, 1000])('frames end where they do, in chunks of %i bytes', (size) => {
  const boundary = new FrameBoundary();
  const frames = [
    frame(HEADERS, END_HEADERS, 20),
    frame(DATA, 0, 30),
    frame(HEADERS, 0, 5),
    frame(CONTINUATION, 0, 5),
    frame(CONTINUATION, END_HEADERS, 7),
    frame(DATA, 1, 0),
  ];
  const bytes = Buffer.concat(frames);
  // No frame may be inserted before the last CONTINUATION.
  const ends = new Set<number>();
  let end = 0;
  for (const [index, each] of frames.entries()) {
    end += each.length;
    if (index !== 2 && index !== 3) ends.add(end);
  }
  for (let at = 0; at < bytes.length; at += size) {
    boundary.pass(bytes.subarray(at, at + size));
    expect(boundary.isBetweenFrames).toBe(ends.has(Math.min(bytes.length, at + size)));
  }
});
