import {expect, test} from 'vitest';
import {dumpQuantity, GO_ARITHMETIC} from '../../../src/api/static-uid/go-quantity.js';

/** Returns the amount, scale, text and format of a dump. */
function partsOf(dump: string): string {
  return dump.replaceAll(/\(\*?[A-Za-z]+\.[A-Za-z0-9]+\)|\((?:int64|string|bool)\)/g, '');
}

test.each([
  ['', '{i:{value:0 scale:0} d:{Dec:<nil>} s: Format:}'],
  ['0', '{i:{value:0 scale:0} d:{Dec:<nil>} s:0 Format:DecimalSI}'],
  ['100m', '{i:{value:100 scale:-3} d:{Dec:<nil>} s:100m Format:DecimalSI}'],
  ['1000m', '{i:{value:1000 scale:-3} d:{Dec:<nil>} s: Format:DecimalSI}'],
  ['0.5', '{i:{value:5 scale:-1} d:{Dec:<nil>} s: Format:DecimalSI}'],
  ['64Mi', '{i:{value:67108864 scale:0} d:{Dec:<nil>} s: Format:BinarySI}'],
  ['1Gi', '{i:{value:1073741824 scale:0} d:{Dec:<nil>} s:1Gi Format:BinarySI}'],
  ['1e3', '{i:{value:1 scale:3} d:{Dec:<nil>} s:1e3 Format:DecimalExponent}'],
  [
    '1.5Gi',
    '{i:{value:0 scale:0} d:{Dec:{unscaled:{neg:false abs:[1610612736000000000]} scale:9}} s: Format:BinarySI}',
  ],
  [
    '9Ei',
    '{i:{value:0 scale:0} d:{Dec:{unscaled:{neg:false abs:[9223372036854775807]} scale:0}} s: Format:BinarySI}',
  ],
])('Go prints the quantity "%s" as %s', (text, dump) => {
  expect(partsOf(dumpQuantity(text, {rounded: false}))).toBe(dump);
});

test.each([
  ['99.5m', '{i:{value:100 scale:-3} d:{Dec:<nil>} s: Format:DecimalSI}'],
  [
    '1.5Gi',
    '{i:{value:0 scale:0} d:{Dec:{unscaled:{neg:false abs:[1610612736000]} scale:3}} s: Format:BinarySI}',
  ],
])('Go prints the quantity "%s" of a resource list as %s', (text, dump) => {
  expect(partsOf(dumpQuantity(text, {rounded: true}))).toBe(dump);
});

test('a sum has the smaller scale and no text', () => {
  const sum = GO_ARITHMETIC.add(GO_ARITHMETIC.add('1', '250m'), '0');

  expect(partsOf(dumpQuantity(sum, {rounded: true}))).toBe(
    '{i:{value:1250 scale:-3} d:{Dec:<nil>} s: Format:DecimalSI}',
  );
  expect(GO_ARITHMETIC.compare(sum, '1.25')).toBe(0);
  expect(GO_ARITHMETIC.compare(sum, '2')).toBeLessThan(0);
});
