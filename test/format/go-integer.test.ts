import {expect, test} from 'vitest';
import {parseGoInteger, toInt64} from '../../src/format/go-integer.js';

test.each([
  ['010', 8n],
  ['0x2', 2n],
  ['-0b11', -3n],
  ['0o7', 7n],
  ['1_0', 10n],
  ['+3', 3n],
  ['9223372036854775807', 2n ** 63n - 1n],
])('parses %s as Go does', (text, value) => {
  expect(parseGoInteger(text)).toBe(value);
});

test.each(['', ' 3', '08', '1__0', '1_', '0x', '1e3', '3.0'])('rejects "%s"', (text) => {
  expect(() => parseGoInteger(text)).toThrow('parse error');
});

test.each(['9223372036854775808', '-9223372036854775809'])('rejects %s, which would wrap', (text) => {
  expect(() => parseGoInteger(text)).toThrow(new RangeError('value out of range'));
});

test('does not wrap the largest number', () => {
  expect(toInt64(Number(2n ** 63n - 1n))).toBe(2n ** 63n - 1n);
});
