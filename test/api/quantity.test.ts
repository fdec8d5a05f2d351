import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {
  addQuantities,
  canonicalizeQuantity,
  compareQuantities,
  parseQuantity,
  quantityMilliValue,
  quantityValue,
  roundUpToMilli,
} from '../../src/api/quantity.js';

describe('canonicalQuantity', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['+5', '5'],
    ['007', '7'],
    ['.5', '500m'],
    ['5.', '5'],
    ['0.5', '500m'],
    ['1.5', '1500m'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1000000', '1M'],
    ['12E', '12E'],
    ['1k', '1k'],
    ['128974848', '128974848'],
    ['129e6', '129e6'],
    ['129M', '129M'],
    ['128974848000m', '128974848'],
    ['123Mi', '123Mi'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1Ki', '1Ki'],
    ['0.5Ki', '512'],
    ['0.5Mi', '512Ki'],
    ['1023Ki', '1023Ki'],
    ['0.0001Ki', '102400u'],
    ['1e3', '1e3'],
    ['1E3', '1e3'],
    ['5e-3', '5e-3'],
    ['12e5', '1200e3'],
    ['100n', '100n'],
    ['1u', '1u'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['-1.5', '-1500m'],
    ['-2048Ki', '-2Mi'],
    ['9223372036854775807', '9223372036854775807'],
    ['16Ei', '9223372036854775807'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalizeQuantity(text)).toBe(canonical);
  });

  test('the canonical form is its own canonical form and has the same amount', () => {
    const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E', 'Ki', 'Mi', 'Gi', 'e3', 'E-3'];
    fc.assert(
      fc.property(
        fc.integer({min: -1_000_000, max: 1_000_000}),
        fc.option(fc.stringMatching(/^\d{1,6}$/), {nil: undefined}),
        fc.constantFrom(...suffixes),
        (whole, fraction, suffix) => {
          const text = `${whole}${fraction === undefined ? '' : `.${fraction}`}${suffix}`;
          const canonical = canonicalizeQuantity(text);
          expect(canonicalizeQuantity(canonical)).toBe(canonical);
          expect(compareQuantities(canonical, text)).toBe(0);
        },
      ),
    );
  });
});

describe('parseQuantity', () => {
  test.each(['', ' 1', '1 ', 'abc', '1.2.3', '--1', '1m5m', '٣', '0x10', 'NaN', '1g', '1KiB'])(
    'rejects %j',
    (text) => {
      expect(() => parseQuantity(text)).toThrow(/quantit/);
    },
  );

  test.each(['1mi', '1K', '1ee3', '1e', '1e1000000000', '1Mm'])('rejects the suffix of %s', (text) => {
    expect(() => parseQuantity(text)).toThrow("unable to parse quantity's suffix");
  });
});

test.each([
  ['100m', 1n, 100n],
  ['1', 1n, 1000n],
  ['1.0001', 2n, 1001n],
  ['1500m', 2n, 1500n],
  ['-1500m', -2n, -1500n],
  ['64Mi', 67108864n, 67108864000n],
  ['1n', 1n, 1n],
  ['0', 0n, 0n],
])('%s rounds up to %s units and %s milli-units', (text, units, thousandths) => {
  expect([quantityValue(text), quantityMilliValue(text)]).toEqual([units, thousandths]);
});

test.each([
  ['1', '1000m', 0],
  ['1Gi', '1G', 1],
  ['100m', '0.2', -1],
  ['-1', '0', -1],
])('%s compared with %s returns %s', (a, b, order) => {
  expect(compareQuantities(a, b)).toBe(order);
});

test.each([
  ['100m', '900m', '1'],
  ['1Gi', '1Gi', '2Gi'],
  ['0', '64Mi', '64Mi'],
  ['64Mi', '1', '67108865'],
  ['1', '64Mi', '67108865'],
  ['1e3', '1', '1001'],
])('%s plus %s is %s', (a, b, sum) => {
  expect(addQuantities(a, b)).toBe(sum);
});

test.each([
  ['1u', '1m'],
  ['1.0001', '1001m'],
  ['250m', '250m'],
  ['64Mi', '64Mi'],
])('%s is stored as %s', (text, stored) => {
  expect(roundUpToMilli(text)).toBe(stored);
});

test('the cache does not change results, even after many quantities', () => {
  const [amount, parseInvalid] = [parseQuantity('1500m'), () => parseQuantity('1x')];
  for (let n = 0; n < 2500; n += 1) expect(parseQuantity(`${n}`).nanos).toBe(BigInt(n) * 1_000_000_000n);
  expect(parseQuantity('1500m')).toEqual(amount);
  expect(parseInvalid).toThrow();
  expect(parseInvalid).toThrow();
});
