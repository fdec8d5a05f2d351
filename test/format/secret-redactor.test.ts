import {expect, test} from 'vitest';
import {secretForms, SecretRedactor} from '../../src/format/secret-redactor.js';
import {LINEAR_GROWTH, measureTimeGrowth} from '../base/time-growth.js';

test.each([
  ['hunter2', ['hunter2']],
  ['hunter2\n', ['hunter2\n', 'hunter2\\n', 'hunter2']],
  [
    ' first line\r\nshort\n',
    [
      ' first line\r\nshort\n',
      ' first line\\r\\nshort\\n',
      'first line\r\nshort',
      'first line\\r\\nshort',
      'first line',
    ],
  ],
  ['a<b>&"c"', ['a<b>&"c"', 'a<b>&\\"c\\"', 'a\\u003cb\\u003e\\u0026\\"c\\"']],
  ['bell\x07', ['bell\x07', 'bell\\u0007', 'bell\\a']],
])('the secret forms of %j are %j', (value, texts) => {
  expect(secretForms(value)).toEqual(texts);
});

test('many secrets are masked as few are, the longest first', () => {
  const redactor = new SecretRedactor();
  redactor.add(Array.from({length: 500}, (_, index) => `secret-${index}`));
  redactor.add(['secret-1-and-more', 'abcd']);
  expect(redactor.mask('secret-1-and-more, secret-12 secret-12x abc abcd secret-')).toBe(
    '***, *** ***x abc *** secret-',
  );
  expect(redactor.mask('ab')).toBe('ab');
});

test('the time to mask the values and texts of thousands of pods grows with their number', () => {
  const growth = measureTimeGrowth(20_000, (count) => {
    const redactor = new SecretRedactor();
    redactor.add(Array.from({length: count}, (_, index) => `${(index * 7919) % 1_000_003}-value`));
    const texts = Array.from({length: count}, (_, index) => `pod ${index} on a node`);
    expect(texts.map((text) => redactor.mask(text)).join('')).not.toContain('***');
  });
  expect(growth).toBeLessThan(LINEAR_GROWTH);
});
