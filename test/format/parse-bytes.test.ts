import {expect, test} from 'vitest';
import {parseBytes} from '../../src/format/parse-bytes.js';

test.each([
  ['1048576', 1_048_576n],
  ['-1', -1n],
  ['0', 0n],
  ['7b', 7n],
  ['1k', 1024n],
  ['512Mi', 536_870_912n],
  ['512MiB', 536_870_912n],
  ['1.5g', 1_610_612_736n],
  ['2Ti', 2_199_023_255_552n],
  ['200MB', 200_000_000n],
  ['1kB', 1000n],
  ['0.5KiB', 512n],
  ['9007199254740993', 9_007_199_254_740_993n],
])('%s is %d bytes', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});

test.each([
  ['10M', 'use Mi for powers of 1024, or MB for powers of 1000'],
  ['1G', 'use Gi for powers of 1024, or GB for powers of 1000'],
  ['12 Mi', 'not a size such as'],
  ['Mi', 'not a size such as'],
  ['5x', 'not a size such as'],
  ['', 'not a size such as'],
  ['1.2', 'not an integer number of bytes'],
  ['1e3', 'not a size such as'],
])('"%s" is rejected: %s', (text, message) => {
  expect(() => parseBytes(text)).toThrow(message);
});
