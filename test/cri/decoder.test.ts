import fc from 'fast-check';
import {describe, test} from 'vitest';
import {decode, Decoder, encode} from '../../src/cri/codec.js';
import type {MessageName} from '../../src/cri/gen/schema.js';
import type {ContainerStatusResponse, ListImagesResponse} from '../../src/cri/gen/types.js';
import {imageId} from '../../src/cri/ids.js';
import {CRI_SCHEMAS} from '../../src/cri/message-schema.js';
import {WireError} from '../../src/cri/wire-format.js';
import {comparable, messages} from './protobufjs-reference.js';

/** Messages that together have fields of every kind, some of them in lists. */
const RICH: readonly MessageName[] = [
  'ContainerStatusResponse',
  'LinuxContainerSecurityContext',
  'ListContainersResponse',
  'ListImagesResponse',
  'PortForwardRequest',
  'PsiData',
];

/** More bytes than are decoded at once. */
const LONG = 200_000;

/** Decodes a message from chunks with the given lengths in turn. Each chunk is overwritten after the push. */
function inChunks(name: MessageName, bytes: Buffer, lengths: readonly number[]): unknown {
  const decoder = new Decoder(CRI_SCHEMAS.message(name));
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (lengths[turn % lengths.length] ?? 1);
    const chunk = Buffer.from(bytes.subarray(at, end));
    decoder.push(chunk);
    chunk.fill(0xff);
    at = end;
  }
  return comparable(decoder.end());
}

const chunk = fc.oneof(fc.integer({min: 1, max: 30}), fc.integer({min: 1, max: 90_000}));
const chunkLengths = fc
  .array(chunk, {minLength: 1, maxLength: 12})
  .filter((lengths) => Math.max(...lengths) > 500);

/** Returns an encoded message repeated many times, so that later fields extend or replace earlier ones. */
function longBytes(name: MessageName, gen: fc.GeneratorValue): Buffer {
  const bytes = encode(name, gen(messages, name) as never);
  return Buffer.concat(Array.from({length: Math.min(5000, LONG / (bytes.length + 1))}, () => bytes));
}

describe('a message in chunks', () => {
  test('decodes as in one chunk', ({expect}) => {
    let longest = 0;
    fc.assert(
      fc.property(fc.constantFrom(...RICH), fc.gen(), chunkLengths, (name, gen, lengths) => {
        const bytes = longBytes(name, gen);
        longest = Math.max(longest, bytes.length);
        expect(inChunks(name, bytes, lengths)).toEqual(comparable(decode(name, bytes)));
      }),
      {numRuns: 40},
    );
    expect(longest).toBeGreaterThan(LONG / 2);
  });

  test('is rejected if and only if it is rejected in one chunk', ({expect}) => {
    const seen = {decoded: 0, rejected: 0};
    const damage = fc.record({at: fc.integer({min: 0, max: LONG}), byte: fc.integer({min: 0, max: 255})});
    fc.assert(
      fc.property(fc.gen(), chunkLengths, fc.array(damage, {maxLength: 3}), (gen, lengths, damages) => {
        const bytes = longBytes('ListContainersResponse', gen);
        for (const {at, byte} of damages) if (at < bytes.length) bytes[at] = byte;
        const cut = bytes.subarray(0, bytes.length - damages.length);
        const attempt = (run: () => unknown): unknown => {
          try {
            return run();
          } catch (error) {
            return error instanceof WireError ? 'rejected' : error;
          }
        };
        const atOnce = attempt(() => comparable(decode('ListContainersResponse', cut)));
        seen[atOnce === 'rejected' ? 'rejected' : 'decoded'] += 1;
        expect(attempt(() => inChunks('ListContainersResponse', cut, lengths))).toEqual(atOnce);
      }),
      {numRuns: 40},
    );
    expect(Math.min(seen.decoded, seen.rejected)).toBeGreaterThan(0);
  });

  test('is decoded by its field mask', ({expect}) => {
    const image = {id: imageId('sha256:1'), repoTags: ['a:1'], repoDigests: ['a@sha256:2'], size: 5n};
    const bytes = encode('ListImagesResponse', {images: Array.from({length: 3000}, () => image)});
    const decoder = new Decoder(CRI_SCHEMAS.message('ListImagesResponse'), {images: {id: true}});
    for (let at = 0; at < bytes.length; at += 1000) decoder.push(bytes.subarray(at, at + 1000));
    const {images} = decoder.end() as ListImagesResponse;
    expect(images).toHaveLength(3000);
    expect(
      images.every(({id, repoTags, size}) => id === 'sha256:1' && repoTags.length === 0 && size === 0n),
    ).toBe(true);
  });

  // Decoding again with every chunk would take minutes.
  test('with one long field is decoded in linear time', ({expect}) => {
    const bytes = encode('ContainerStatusResponse', {info: {config: 'x'.repeat(64 * 2 ** 20)}});
    const decoder = new Decoder(CRI_SCHEMAS.message('ContainerStatusResponse'));
    for (let at = 0; at < bytes.length; at += 1024) decoder.push(bytes.subarray(at, at + 1024));
    expect((decoder.end() as ContainerStatusResponse).info['config']?.length).toBe(64 * 2 ** 20);
  });

  test('with a malformed start is not buffered', ({expect}) => {
    const decoder = new Decoder(CRI_SCHEMAS.message('VersionRequest'));
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 400; count += 1) decoder.push(Buffer.alloc(2 ** 20, 0xff));
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
    expect(() => decoder.end()).toThrow(WireError);
  });
});
