import {expect, test} from 'vitest';
import {ValueRedactor} from '../../../src/cli/redaction/value-redactor.js';

function redactorOf(...values: readonly string[]): ValueRedactor {
  const redactor = new ValueRedactor();
  redactor.add(values);
  return redactor;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['exec "hunter2"', ['hunter2'], 'exec "***"'],
  ['{"a":"one\\ntwo \\"x\\""}', ['one\ntwo "x"'], '{"a":"***"}'],
  [`auth ${base64('hunter2')}`, ['hunter2'], 'auth ***'],
  ['hunter2 hunter2000', ['hunter2', 'hunter2000'], '*** ***'],
  ['exec "hunter2"', ['hunter2\n'], 'exec "***"'],
  ['its line: second line', ['first line\nsecond line\n'], 'its line: ***'],
  ['{"a":"me\\u003chunter2\\u003e"}', ['me<hunter2>'], '{"a":"***"}'],
  [`auth ${base64('hunter2')}`, ['hunter2\n'], 'auth ***'],
  ['a short x', ['x', ''], 'a short x'],
  ['nothing', [], 'nothing'],
])('%j is redacted for %j as %j', (text, values, shown) => {
  expect(redactorOf(...values).mask(text)).toBe(shown);
});

test('replaced values are no longer redacted, unlike permanent ones', () => {
  const redactor = redactorOf('permanent');
  redactor.replace(['permanent', 'first value']);
  expect(redactor.mask('permanent, first value')).toBe('***, ***');
  redactor.replace(['second value']);
  expect(redactor.mask('permanent, first value, second value')).toBe('***, first value, ***');
});

test('a variable equal to or containing a secret is masked whatever its name', () => {
  const envs = ['x', 'hunter2', 'postgres://me:hunter2@db', 'plain'].map((value, index) => ({
    key: `V${index}`,
    value: base64(value),
  }));

  expect(redactorOf('x', 'hunter2').maskData({config: {envs, args: ['sh', '-c', 'echo hunter2']}})).toEqual({
    config: {
      envs: [
        {key: 'V0', value: '***'},
        {key: 'V1', value: '***'},
        {key: 'V2', value: '***'},
        {key: 'V3', value: base64('plain')},
      ],
      args: ['sh', '-c', 'echo ***'],
    },
  });
});
