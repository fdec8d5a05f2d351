import fc from 'fast-check';
import {expect, test} from 'vitest';
import {bytesToText, textToBytes} from '../../src/base/byte-text.js';

test('UTF-8 is decoded', () => {
  expect(bytesToText(Buffer.from('zwölf € 𝄞'))).toBe('zwölf € 𝄞');
});

test('invalid bytes are preserved between valid text', () => {
  const bytes = Buffer.from('61c3b6ff80e282acc3', 'hex');

  expect(bytesToText(bytes)).toBe('aö\udcff\udc80€\udcc3');
  expect(textToBytes(bytesToText(bytes))).toEqual(bytes);
});

test('a round trip preserves any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({maxLength: 40}), (bytes) => {
      expect(textToBytes(bytesToText(bytes))).toEqual(Buffer.from(bytes));
    }),
  );
});

test('any text is encoded as UTF-8', () => {
  fc.assert(
    fc.property(fc.string({unit: 'binary'}), (text) => {
      expect(textToBytes(text)).toEqual(Buffer.from(text));
    }),
  );
});
