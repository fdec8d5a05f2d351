import {expect, test} from 'vitest';
import {formatGeneral} from '../../src/format/decimal.js';
import {humanSize} from '../../src/format/human-size.js';

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
  [9_996_000n, 3, '10MB'],
  [1_005_000n, 3, '1MB'],
  // A tie is rounded to even, as by Go's %.3g.
  [2_125_000n, 3, '2.12MB'],
  [2_375_000n, 3, '2.38MB'],
  [12_250_000n, 3, '12.2MB'],
  [125_500n, 3, '126kB'],
  [126_500n, 3, '126kB'],
  [1_062_500n, 4, '1.062MB'],
  // Almost a tie, because of the float's precision.
  [2_165_000n, 3, '2.17MB'],
  [1_015_000n, 3, '1.01MB'],
  [18_446_744_073_709_551_615n, 4, '18.45EB'],
])('%d bytes with %d digits are %s', (bytes, digits, text) => {
  expect(humanSize(bytes, digits)).toBe(text);
});

test('a size has the digits of Go’s %g on every code path', () => {
  let bytes = 1n;
  for (let turn = 0; turn < 5000; turn++) {
    // Multiples of 1/8 include ties.
    bytes = (((bytes * 69_069n + 12_345n) % 10n ** BigInt((turn % 18) + 1)) / 125n) * 125n;
    let inUnits = Number(bytes);
    while (inUnits >= 1000) inUnits /= 1000;
    for (const digits of [3, 4]) {
      const text = humanSize(bytes, digits).replace(/[A-Za-z]+$/, '');
      expect([bytes, text]).toEqual([bytes, formatGeneral(inUnits, digits, 'e')]);
    }
  }
});
