import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {encodeHeaders, HeaderDecoder, type HeaderField} from '../../../src/cri/http2/hpack.js';
import {ProtocolError} from '../../../src/cri/http2/protocol-constants.js';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
/** Decodes each block to `name: value` lines. */
function decodeAll(blocks: readonly string[], maxListBytes = 100_000): readonly (string[] | undefined)[] {
  const decoder = new HeaderDecoder(maxListBytes);
  return blocks.map((block) => decoder.decode(bytes(block))?.map(([name, value]) => `${name}: ${value}`));
}

const REQUESTS = [
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
  [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
  [
    ':method: GET',
    ':scheme: https',
    ':path: /index.html',
    ':authority: www.example.com',
    'custom-key: custom-value',
  ],
];
const DATE = 'date: Mon, 21 Oct 2013 20:13:21 GMT';
const LOCATION = 'location: https://www.example.com';
const COOKIE = 'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';
const RESPONSES = [
  [':status: 302', 'cache-control: private', DATE, LOCATION],
  [':status: 307', 'cache-control: private', DATE, LOCATION],
  [
    ':status: 200',
    'cache-control: private',
    DATE.replace(':21 ', ':22 '),
    LOCATION,
    'content-encoding: gzip',
    COOKIE,
  ],
];

describe('the examples of RFC 7541, Appendix C', () => {
  test.each([
    [
      'C.2.1',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      'custom-key: custom-header',
    ],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', ':path: /sample/path'],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', 'password: secret'],
    ['C.2.4', '82', ':method: GET'],
  ])('%s', (_, block, field) => {
    expect(decodeAll([block])).toEqual([[field]]);
  });

  test.each([
    [
      'C.3',
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
    ],
    [
      'C.4 (Huffman)',
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
    ],
  ])('%s', (_, blocks) => {
    expect(decodeAll(blocks)).toEqual(REQUESTS);
  });

  // The table of these examples holds 256 bytes, so that entries are evicted: they start with a table size update.
  test.each([
    [
      'C.5',
      [
        '3fe101 4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      ],
    ],
    [
      'C.6 (Huffman)',
      [
        '3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
      ],
    ],
  ])('%s', (_, blocks) => {
    expect(decodeAll(blocks)).toEqual(RESPONSES);
  });
});

describe('a decoder rejects', () => {
  test.each([
    ['an index beyond both tables', 'be'],
    ['the index 0', '80'],
    ['a truncated string', '4003 6162'],
    ['a truncated integer', 'ff80'],
    ['an integer beyond the maximum', 'ff80 8080 8080 8080 8001'],
    ['a table larger than the maximum', '3fe2 1f'],
    ['a table size update after a field', '8220'],
    ['the end-of-string symbol in a Huffman string', '0085 ffff ffff ff00'],
    ['eight bits of padding', '0082 1fff 00'],
    ['padding of zeros', '0081 18 00'],
  ])('%s', (_, block) => {
    expect(() => decodeAll([block])).toThrow(ProtocolError);
  });
});

test('the table may be cleared and enlarged again before the fields', () => {
  expect(decodeAll(['20 3fe1 1f 4001 6101 62', 'be', '20', '82'])).toEqual([
    ['a: b'],
    ['a: b'],
    [],
    [':method: GET'],
  ]);
  expect(() => decodeAll(['4001 6101 62', '20', 'be'])).toThrow('invalid header index 62');
});

test('an entry larger than the table clears it', () => {
  const large = `4001 61 7f 81 1f ${'62'.repeat(4096)}`;
  expect(decodeAll(['4001 6301 64', large])).toEqual([['c: d'], [`a: ${'b'.repeat(4096)}`]]);
  expect(() => decodeAll(['4001 6301 64', large, 'be'])).toThrow('invalid header index 62');
});

test('a list that is too large is discarded, but its table entries are kept', () => {
  const repeated = '4001 6101 62' + 'be'.repeat(100_000);
  expect(decodeAll([repeated, 'be'], 34)).toEqual([undefined, ['a: b']]);
});

const anyText = fc.string({unit: fc.integer({min: 0, max: 255}).map((byte) => String.fromCharCode(byte))});
const aField = fc.tuple(anyText, anyText) as fc.Arbitrary<HeaderField>;

test('encoded headers are decoded', () => {
  fc.assert(
    fc.property(fc.array(aField), (fields) => {
      expect(new HeaderDecoder(1_000_000).decode(encodeHeaders(fields))).toEqual(fields);
    }),
  );
  const long: HeaderField[] = [['a', 'x'.repeat(100_000)]];
  expect(new HeaderDecoder(1_000_000).decode(encodeHeaders(long))).toEqual(long);
});

test('arbitrary bytes decode to headers or a protocol error', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({maxLength: 60}), {maxLength: 5}), (blocks) => {
      const decoder = new HeaderDecoder(1000);
      try {
        for (const block of blocks) decoder.decode(Buffer.from(block));
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError);
      }
    }),
    {numRuns: 5000, seed: 7541},
  );
});
