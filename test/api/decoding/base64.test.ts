import fc from 'fast-check';
import {expect, test} from 'vitest';
import {findBase64Error} from '../../../src/api/decoding/base64.js';

// The offsets equal those of Go's encoding/base64.
test.each([
  ['', undefined],
  ['aHVudGVyMg==', undefined],
  ['aHVu\ndGVy\r\nMg=\n=\n', undefined],
  ['aHVudGVy', undefined],
  ['hunter2', 4],
  ['a b=', 1],
  ['-_==', 0],
  ['a', 0],
  ['a===', 1],
  ['ab=', 3],
  ['ab=c', 2],
  ['abc', 0],
  ['abc==', 4],
  ['ab==cd', 4],
  ['====', 0],
])('the first invalid offset of %j is %s', (text, offset) => {
  expect(findBase64Error(text)).toBe(offset);
});

test('encoded bytes have no error', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(findBase64Error(Buffer.from(bytes).toString('base64'))).toBeUndefined();
    }),
  );
});
