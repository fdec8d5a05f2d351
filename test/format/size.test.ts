import {expect, test} from 'vitest';
import {humanSize} from '../../src/format/size.js';

test.each([
  [0n, 3, '0B'],
  [999n, 3, '999B'],
  [1000n, 3, '1kB'],
  [1234n, 3, '1.23kB'],
  [301_463n, 3, '301kB'],
  [311_286n, 4, '311.3kB'],
  [2_851_000n, 4, '2.851MB'],
  [999_900n, 3, '1e+03kB'],
  [12_345_678_901n, 3, '12.3GB'],
  [18_446_744_073_709_551_615n, 4, '18.45EB'],
])('%d bytes with %d digits are %s', (bytes, digits, text) => {
  expect(humanSize(bytes, digits)).toBe(text);
});
