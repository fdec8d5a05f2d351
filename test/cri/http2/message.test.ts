import {expect, test} from 'vitest';
import {frameMessage, MessageReader} from '../../../src/cri/unary/message.js';

const framed = frameMessage(Buffer.from('0123456789'.repeat(1000)));

test.each([1, 3, 7, 999, 5000, 20_000])('messages in pieces of %i bytes are put together', (size) => {
  const reader = new MessageReader();
  const empty = frameMessage(Buffer.alloc(0));
  const stream = Buffer.concat([framed, empty, framed]);
  for (let at = 0; at < stream.length; at += size) {
    // What is pushed is lent.
    const piece = Buffer.from(stream.subarray(at, at + size));
    expect(reader.push(piece)).toBeUndefined();
    piece.fill(0);
    if (at + size < framed.length) expect([reader.isPartial, reader.messages]).toEqual([true, []]);
  }
  expect(reader.isPartial).toBe(false);
  expect(reader.messages).toEqual([framed.subarray(5), empty.subarray(5), framed.subarray(5)]);
});

test('many small pieces take not much more memory than the message', () => {
  const length = 4 * 2 ** 20;
  const reader = new MessageReader();
  reader.push(frameMessage(Buffer.alloc(length)).subarray(0, 5));
  // Pieces of a byte, each of a buffer of its own, as of reads that brought nothing else.
  for (let at = 0; at < length; at += 4) reader.push(Buffer.allocUnsafeSlow(4));
  const {heapUsed, external} = process.memoryUsage();
  expect(heapUsed + external).toBeLessThan(300 * 2 ** 20);
  expect(reader.messages.map((message) => message.length)).toEqual([length]);
});
