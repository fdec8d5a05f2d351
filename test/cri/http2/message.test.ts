import {expect, test} from 'vitest';
import {frameMessage, MessageReader} from '../../../src/cri/unary/message.js';
import {collector} from './client.js';

const content = Buffer.from('0123456789'.repeat(1000));
const framed = frameMessage(content);
const empty = frameMessage(Buffer.alloc(0));

test.each([1, 3, 7, 999, 5000, 20_000])('messages in pieces of %i bytes are told apart', (size) => {
  const first = collector();
  const reader = new MessageReader(first);
  const stream = Buffer.concat([framed, empty, framed]);
  for (let at = 0; at < stream.length; at += size) {
    // What is pushed is lent.
    const piece = Buffer.from(stream.subarray(at, at + size));
    expect(reader.push(piece)).toBeUndefined();
    piece.fill(0);
    if (at + size < framed.length) expect([reader.isPartial, reader.complete]).toEqual([true, 0]);
  }
  expect([reader.isPartial, reader.complete]).toEqual([false, 3]);
  expect(first.bytes).toEqual(content);
});

test('an empty message is one', () => {
  const first = collector();
  const reader = new MessageReader(first);
  reader.push(empty);
  expect([reader.isPartial, reader.complete, first.bytes.length]).toEqual([false, 1, 0]);
});
