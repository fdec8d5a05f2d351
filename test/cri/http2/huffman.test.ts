import {expect, test} from 'vitest';
import {decodeBits, decodeHuffman, FREQUENT_CODES} from '../../../src/cri/http2/huffman.js';

test.each(Object.entries(FREQUENT_CODES))('the frequent code %s is that of %s', (code, text) => {
  expect(decodeBits(Buffer.from(code, 'hex')).toString('latin1')).toBe(text);
  expect(decodeHuffman(Buffer.from(code, 'hex'))).toBe(text);
});
