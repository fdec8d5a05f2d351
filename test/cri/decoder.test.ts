import fc from 'fast-check';
import {describe, test} from 'vitest';
import {decode, Decoder, encode} from '../../src/cri/codec.js';
import type {MessageName} from '../../src/cri/gen/schema.js';
import {imageId} from '../../src/cri/ids.js';
import {WireError} from '../../src/cri/wire.js';
import {comparable, messages} from './reflection.js';

/** Messages that between them have every kind of field, some of them in lists. */
const RICH: readonly MessageName[] = [
  'ContainerStatusResponse',
  'LinuxContainerSecurityContext',
  'ListContainersResponse',
  'ListImagesResponse',
  'PortForwardRequest',
  'PsiData',
];

/** More than is decoded at once. */
const LONG = 200_000;

/** What comes in, in pieces of these lengths in turn, and is overwritten as soon as it was taken. */
function inPieces(name: MessageName, bytes: Buffer, lengths: readonly number[]): unknown {
  const decoder = new Decoder(name);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const end = at + (lengths[turn % lengths.length] ?? 1);
    const piece = Buffer.from(bytes.subarray(at, end));
    decoder.push(piece);
    piece.fill(0xff);
    at = end;
  }
  return comparable(decoder.end());
}

const piece = fc.oneof(fc.integer({min: 1, max: 30}), fc.integer({min: 1, max: 90_000}));
const pieces = fc.array(piece, {minLength: 1, maxLength: 12}).filter((lengths) => Math.max(...lengths) > 500);

/** A message of any kind, as bytes, again and again: what comes later is added or takes the place of the former. */
function longBytes(name: MessageName, gen: fc.GeneratorValue): Buffer {
  const bytes = encode(name, gen(messages, name) as never);
  return Buffer.concat(Array.from({length: Math.min(5000, LONG / (bytes.length + 1))}, () => bytes));
}

describe('a message that comes in pieces', () => {
  test('is what it is at once', ({expect}) => {
    let longest = 0;
    fc.assert(
      fc.property(fc.constantFrom(...RICH), fc.gen(), pieces, (name, gen, lengths) => {
        const bytes = longBytes(name, gen);
        longest = Math.max(longest, bytes.length);
        expect(inPieces(name, bytes, lengths)).toEqual(comparable(decode(name, bytes)));
      }),
      {numRuns: 40},
    );
    expect(longest).toBeGreaterThan(LONG / 2);
  });

  test('is refused when it would be at once, and then only', ({expect}) => {
    const seen = {decoded: 0, refused: 0};
    const damage = fc.record({at: fc.integer({min: 0, max: LONG}), byte: fc.integer({min: 0, max: 255})});
    fc.assert(
      fc.property(fc.gen(), pieces, fc.array(damage, {maxLength: 3}), (gen, lengths, damages) => {
        const bytes = longBytes('ListContainersResponse', gen);
        for (const {at, byte} of damages) if (at < bytes.length) bytes[at] = byte;
        const cut = bytes.subarray(0, bytes.length - damages.length);
        const attempt = (run: () => unknown): unknown => {
          try {
            return run();
          } catch (error) {
            return error instanceof WireError ? 'refused' : error;
          }
        };
        const atOnce = attempt(() => comparable(decode('ListContainersResponse', cut)));
        seen[atOnce === 'refused' ? 'refused' : 'decoded'] += 1;
        expect(attempt(() => inPieces('ListContainersResponse', cut, lengths))).toEqual(atOnce);
      }),
      {numRuns: 40},
    );
    expect(Math.min(seen.decoded, seen.refused)).toBeGreaterThan(0);
  });

  test('with fields that are not wanted leaves them out', ({expect}) => {
    const image = {id: imageId('sha256:1'), repoTags: ['a:1'], repoDigests: ['a@sha256:2'], size: 5n};
    const bytes = encode('ListImagesResponse', {images: Array.from({length: 3000}, () => image)});
    const decoder = new Decoder('ListImagesResponse', {images: {id: true}});
    for (let at = 0; at < bytes.length; at += 1000) decoder.push(bytes.subarray(at, at + 1000));
    const {images} = decoder.end();
    expect(images).toHaveLength(3000);
    expect(
      images.every(({id, repoTags, size}) => id === 'sha256:1' && repoTags.length === 0 && size === 0n),
    ).toBe(true);
  });

  // To look at it anew with each piece would take minutes.
  test('and is one long field is gathered once', ({expect}) => {
    const bytes = encode('ContainerStatusResponse', {info: {config: 'x'.repeat(64 * 2 ** 20)}});
    const decoder = new Decoder('ContainerStatusResponse');
    for (let at = 0; at < bytes.length; at += 1024) decoder.push(bytes.subarray(at, at + 1024));
    expect(decoder.end().info['config']?.length).toBe(64 * 2 ** 20);
  });

  test('and is damaged at its beginning is gathered no further', ({expect}) => {
    const decoder = new Decoder('VersionRequest');
    const before = process.memoryUsage().rss;
    for (let count = 0; count < 400; count += 1) decoder.push(Buffer.alloc(2 ** 20, 0xff));
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 2 ** 20);
    expect(() => decoder.end()).toThrow(WireError);
  });
});
