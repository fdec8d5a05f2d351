import {createHash} from 'node:crypto';
import {constants, createDeflate, deflateSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {SpdyHeaderReader, spdyDictionary} from '../../../src/recording/sessions/spdy-headers.js';
import {HeaderEncoder} from '../../../src/streaming/spdy/frames.js';

/** Returns a header block that is compressed with the dictionary, as by clients in Go. */
function compressed(headers: Readonly<Record<string, string>>): Buffer {
  const options = {dictionary: spdyDictionary(), finishFlush: constants.Z_SYNC_FLUSH};
  return deflateSync(headerBlock(headers), options);
}

function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const number = (value: number): Buffer => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };
  const words = Object.entries(headers).flat();
  return Buffer.concat([
    number(Object.keys(headers).length),
    ...words.flatMap((word) => [number(word.length), Buffer.from(word)]),
  ]);
}

test('the dictionary is that of SPDY/3.1', () => {
  expect(spdyDictionary()).toHaveLength(1423);
  // zlib names a dictionary by its Adler-32, in the bytes after the header.
  const block = compressed({streamtype: 'error'});
  expect(block.subarray(2, 6).toString('hex')).toBe('e3c6a7c2');
});

test('reads headers that are compressed with the dictionary', () => {
  const reader = new SpdyHeaderReader();
  const block = compressed({streamtype: 'data', port: '80', requestid: '4'});
  expect(reader.read(block)).toEqual({streamtype: 'data', port: '80', requestid: '4'});
});

test('reads the blocks of a connection, which form one stream', () => {
  const reader = new SpdyHeaderReader();
  const encoder = new HeaderEncoder();
  const blocks = ['error', 'stdout', 'stdin'].map((streamtype) => encoder.encode({streamtype}));
  expect(blocks.map((block) => reader.read(block))).toEqual([
    {streamtype: 'error'},
    {streamtype: 'stdout'},
    {streamtype: 'stdin'},
  ]);
});

test('reads blocks that refer to those before them, however many there are', async () => {
  const headers = Array.from({length: 2000}, (_, index) => ({
    streamtype: index % 2 === 0 ? 'error' : 'data',
    port: '8080',
    requestid: String(index),
    // Cannot be compressed, so that all blocks are longer than what a block may refer back to.
    name: createHash('sha256').update(String(index)).digest('hex'),
  }));
  const deflate = createDeflate({dictionary: spdyDictionary(), flush: constants.Z_SYNC_FLUSH});
  const reader = new SpdyHeaderReader();
  for (const each of headers) {
    await new Promise((resolve) => deflate.write(headerBlock(each), resolve));
    const block = deflate.read() as Buffer;
    expect(reader.read(block)).toEqual(each);
  }
  deflate.destroy();
});

test.each([
  {what: 'that is not flushed', block: compressed({streamtype: 'error'}).subarray(0, -1)},
  {what: 'with an unknown dictionary', block: deflateSync('', {dictionary: Buffer.from('other')})},
])('a block $what is not read', ({block}) => {
  const reader = new SpdyHeaderReader();
  expect([reader.read(block), reader.hasFailed]).toEqual([undefined, true]);
});

test('a block that cannot be read, and those after it, have no headers', () => {
  const reader = new SpdyHeaderReader();
  expect(reader.read(Buffer.from('not zlib'))).toBeUndefined();
  expect(reader.read(new HeaderEncoder().encode({streamtype: 'error'}))).toBeUndefined();
});
