import {expect, test} from 'vitest';
import {frameMessage, MessageReader} from '../../../src/cri/unary/message-framing.js';
import {collector} from '../http2/transport-client.js';

const content = Buffer.from('0123456789'.repeat(1000));
const framed = frameMessage(content);
const empty = frameMessage(Buffer.alloc(0));

test.each([1, 3, 7, 999, 5000, 20_000])('messages in chunks of %i bytes are separated', (size) => {
  const first = collector();
  const reader = new MessageReader(first);
  const stream = Buffer.concat([framed, empty, framed]);
  for (let at = 0; at < stream.length; at += size) {
    // Chunks are only valid during the call.
    const chunk = Buffer.from(stream.subarray(at, at + size));
    expect(reader.push(chunk)).toBeUndefined();
    chunk.fill(0);
    if (at + size < framed.length) expect([reader.isPartial, reader.completeCount]).toEqual([true, 0]);
  }
  expect([reader.isPartial, reader.completeCount]).toEqual([false, 3]);
  expect(first.bytes).toEqual(content);
});

test('an empty message is counted', () => {
  const first = collector();
  const reader = new MessageReader(first);
  reader.push(empty);
  expect([reader.isPartial, reader.completeCount, first.bytes.length]).toEqual([false, 1, 0]);
});
