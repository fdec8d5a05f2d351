import {expect, test} from 'vitest';
import {frameMessage, MessageReader} from '../../../src/cri/unary/message.js';

const framed = frameMessage(Buffer.from('0123456789'.repeat(1000)));

test.each([1, 3, 7, 999, 5000, 20_000])('a message in pieces of %i bytes is put together', (size) => {
  const reader = new MessageReader();
  for (let at = 0; at < framed.length; at += size) {
    expect(reader.result).toBe(at === 0 ? 'nothing' : 'part');
    expect(reader.push(framed.subarray(at, at + size))).toBeUndefined();
  }
  expect((reader.result as Buffer).equals(framed.subarray(5))).toBe(true);
});

test('a message that comes at once is not copied', () => {
  const reader = new MessageReader();
  reader.push(framed);
  expect((reader.result as Buffer).buffer).toBe(framed.buffer);
});

test('many small pieces take not much more memory than the message', () => {
  const length = 4 * 2 ** 20;
  const reader = new MessageReader();
  reader.push(frameMessage(Buffer.alloc(length)).subarray(0, 5));
  // Pieces of a byte, each of a buffer of its own, as of reads that brought nothing else.
  for (let at = 0; at < length; at += 4) reader.push(Buffer.allocUnsafeSlow(4));
  const {heapUsed, external} = process.memoryUsage();
  expect(heapUsed + external).toBeLessThan(300 * 2 ** 20);
  expect((reader.result as Buffer).length).toBe(length);
});
